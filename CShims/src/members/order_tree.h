// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// An order-statistic tree: a sequence of chunks, each of some items. It finds the chunk of an index, the index of a
/// chunk, and the last chunk of a priority, in O(log n) expected time. Only the list's writer uses it.

#ifndef FWD_SRC_ORDER_TREE_H
#define FWD_SRC_ORDER_TREE_H

#include <stddef.h>
#include <stdint.h>

/// A chunk's node. It is part of the chunk.
typedef struct fwd_order_node {
  struct fwd_order_node *parent, *left, *right;
  /// The items of the chunk, and of its whole subtree.
  size_t count, subtree_count;
  /// An upper bound of the items' priorities, and that of the whole subtree.
  int64_t priority, subtree_priority;
  /// Random. A node's weight is at least that of its children.
  uint32_t weight;
} fwd_order_node;

typedef struct fwd_order_tree {
  fwd_order_node *root;
  /// The state of the random numbers that give nodes their weights.
  uint32_t random;
} fwd_order_tree;

/// Inserts a node behind another one; `before` is NULL if the tree is empty. The caller has set `count` and `priority`.
void fwd_order_insert(fwd_order_tree *tree, fwd_order_node *before, fwd_order_node *node);
void fwd_order_remove(fwd_order_tree *tree, fwd_order_node *node);
/// Brings the tree up to date after `node->count` or `node->priority` has changed.
void fwd_order_update(fwd_order_node *node);
/// Adds to `node->count`. Faster than `fwd_order_update`.
void fwd_order_add(fwd_order_node *node, size_t difference);
/// Finds the node that has the item at `*index`, and makes `*index` the item's index in the node. For the number of all
/// items it gives the last node that has items. The tree has at least one item, and `*index` is at most their number.
fwd_order_node *fwd_order_find(const fwd_order_tree *tree, size_t *index);
/// The number of items before a node.
size_t fwd_order_index(const fwd_order_node *node);
/// The last node whose `priority` is at least this one, or NULL.
fwd_order_node *fwd_order_last(const fwd_order_tree *tree, int64_t priority);

#endif
