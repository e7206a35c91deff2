// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// An order-statistic tree over a sequence of chunks, each of which has some items. The tree finds the chunk of an
/// index, the index of a chunk, and the last chunk of a priority, in O(log n) expected time. Only the list's writer
/// uses it.

#ifndef FWD_SRC_ORDER_TREE_H
#define FWD_SRC_ORDER_TREE_H

#include <stddef.h>
#include <stdint.h>

/// The node of a chunk. It is a member of the chunk.
typedef struct fwd_order_node {
  struct fwd_order_node *parent, *left, *right;
  /// The number of items of the chunk, and of all chunks in the node's subtree.
  size_t count, subtree_count;
  /// An upper bound of the priorities of the chunk's items, and the largest such bound in the subtree.
  int64_t priority, subtree_priority;
  /// A random number. The weight of a node is at least that of its children.
  uint32_t weight;
} fwd_order_node;

typedef struct fwd_order_tree {
  fwd_order_node *root;
  /// The state of the random numbers that give nodes their weights.
  uint32_t random;
} fwd_order_tree;

/// Inserts a node directly after `before`, or into an empty tree if that is NULL. The caller has set `count` and
/// `priority`.
void fwd_order_insert(fwd_order_tree *tree, fwd_order_node *before, fwd_order_node *node);
void fwd_order_remove(fwd_order_tree *tree, fwd_order_node *node);
/// Updates the tree after `node->count` or `node->priority` has changed.
void fwd_order_update(fwd_order_node *node);
/// Adds to `node->count`. Faster than `fwd_order_update`.
static inline void fwd_order_add(fwd_order_node *node, size_t difference) {
  node->count += difference;
  for (; node; node = node->parent) node->subtree_count += difference;
}
/// Returns the node that has the item at `*index`, and replaces `*index` by the item's index in the node. If `*index`
/// is the number of all items, returns the last node that has items, and the index after its last item. The tree must
/// have at least one item, and `*index` must be at most the number of items.
fwd_order_node *fwd_order_find(const fwd_order_tree *tree, size_t *index);
/// Returns the number of items before a node.
size_t fwd_order_index(const fwd_order_node *node);
/// Returns the last node whose `priority` is at least the given one, or NULL if no node has such a priority.
fwd_order_node *fwd_order_last(const fwd_order_tree *tree, int64_t priority);

#endif
