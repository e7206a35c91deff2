// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The tree is a treap (R. Seidel and C. Aragon, "Randomized Search Trees", Algorithmica 16, 1996): a binary search
/// tree by position, and a heap by random weights, which make the expected depth logarithmic. Each node also has the
/// sum of the counts and the maximum of the priorities in its subtree.

#include "members/order_tree.h"

#include <stdbool.h>

static size_t count_of(const fwd_order_node *node) { return node ? node->subtree_count : 0; }

/// Computes the values of a node's subtree from those of its children.
static void refresh(fwd_order_node *node) {
  node->subtree_count = node->count + count_of(node->left) + count_of(node->right);
  node->subtree_priority = node->priority;
  if (node->left && node->left->subtree_priority > node->subtree_priority) {
    node->subtree_priority = node->left->subtree_priority;
  }
  if (node->right && node->right->subtree_priority > node->subtree_priority) {
    node->subtree_priority = node->right->subtree_priority;
  }
}

void fwd_order_update(fwd_order_node *node) {
  for (; node; node = node->parent) refresh(node);
}

/// Returns the pointer to a node: its parent's, or the root's.
static fwd_order_node **link_of(fwd_order_tree *tree, const fwd_order_node *node) {
  if (!node->parent) return &tree->root;
  return node->parent->left == node ? &node->parent->left : &node->parent->right;
}

/// Rotates a node above its parent, which becomes its child. The order of the nodes stays.
static void rotate_up(fwd_order_tree *tree, fwd_order_node *node) {
  fwd_order_node *parent = node->parent, **link = link_of(tree, parent), *moved;
  if (parent->left == node) {
    moved = parent->left = node->right;
    node->right = parent;
  } else {
    moved = parent->right = node->left;
    node->left = parent;
  }
  if (moved) moved->parent = parent;
  node->parent = parent->parent;
  parent->parent = node;
  *link = node;
  refresh(parent);
  refresh(node);
}

static uint32_t next_weight(fwd_order_tree *tree) {
  // A linear congruential generator (Knuth, TAOCP 2, 3.3.4). The weights need not be secret.
  tree->random = tree->random * 1664525 + 1013904223;
  return tree->random;
}

void fwd_order_insert(fwd_order_tree *tree, fwd_order_node *before, fwd_order_node *node) {
  node->left = node->right = node->parent = NULL;
  node->weight = next_weight(tree);
  if (!before) {
    tree->root = node;
  } else if (!before->right) {
    before->right = node;
    node->parent = before;
  } else {
    fwd_order_node *next = before->right;
    while (next->left) next = next->left;
    next->left = node;
    node->parent = next;
  }
  fwd_order_update(node);
  while (node->parent && node->parent->weight < node->weight) rotate_up(tree, node);
}

void fwd_order_remove(fwd_order_tree *tree, fwd_order_node *node) {
  while (node->left && node->right) {
    rotate_up(tree, node->left->weight > node->right->weight ? node->left : node->right);
  }
  fwd_order_node *child = node->left ? node->left : node->right, *parent = node->parent;
  *link_of(tree, node) = child;
  if (child) child->parent = parent;
  fwd_order_update(parent);
}

fwd_order_node *fwd_order_find(const fwd_order_tree *tree, size_t *index) {
  fwd_order_node *node = tree->root;
  // The index after all items is found as the last item's index plus one.
  size_t is_end = *index == node->subtree_count, wanted = *index - is_end;
  while (true) {
    size_t left = count_of(node->left);
    if (wanted < left) {
      node = node->left;
    } else if (wanted - left < node->count) {
      *index = wanted - left + is_end;
      return node;
    } else {
      wanted -= left + node->count;
      node = node->right;
    }
  }
}

size_t fwd_order_index(const fwd_order_node *node) {
  size_t index = count_of(node->left);
  for (; node->parent; node = node->parent) {
    if (node->parent->right == node) index += node->parent->count + count_of(node->parent->left);
  }
  return index;
}

fwd_order_node *fwd_order_last(const fwd_order_tree *tree, int64_t priority) {
  fwd_order_node *node = tree->root;
  while (node && node->subtree_priority >= priority) {
    if (node->right && node->right->subtree_priority >= priority) {
      node = node->right;
    } else if (node->priority >= priority) {
      return node;
    } else {
      node = node->left;
    }
  }
  return NULL;
}
