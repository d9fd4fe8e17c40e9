// SPDX-License-Identifier: Apache-2.0
// Finding and making elements. Text goes into them as textContent only.

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * An element with text and children.
 * @param {string} tag @param {string} text @param {...HTMLElement} children
 */
export function element(tag, text, ...children) {
  const made = document.createElement(tag);
  made.textContent = text;
  made.append(...children);
  return made;
}
