// SPDX-License-Identifier: Apache-2.0
// The legend: which colour is which module or kind. It has two lines; what is least to be seen in the
// picture is left out where they are full, and a button tells how much that is and shows it.

import { element } from './document.js';
import { ROOT } from './profile.js';
import { formatPercent } from './text.js';

const LINES = 2;
const MOST_TRIED = 40; // two lines of the widest screen

/** Colours that are not of one module, and what they are called. */
const KIND_NAMES = {kernel: 'kernel', jit: 'JIT', mark: 'not code'};

/** @typedef {{text: string, title: string, color: string, self: number}} Entry */

/** @param {import('./profile.js').Profile} profile @param {import('./colors.js').Palette} palette
 * @returns {Entry[]} what is most to be seen first */
export function legendEntries(profile, palette) {
  const whole = profile.total[ROOT];
  const parts = profile.parts();
  const has = new Set(profile.kinds);
  const entries = parts.filter(({kind}) => kind === 'native' || kind in KIND_NAMES)
    .map(({kind, module, self, total}) => {
      const name = kind === 'native' ? module || 'no module'
        : KIND_NAMES[/** @type {keyof typeof KIND_NAMES} */ (kind)];
      return {text: kind === 'mark' ? name : `${name} ${formatPercent(self, whole)}`,
        title: `${name}: ${formatPercent(self, whole)} in its own code, ` +
          `${formatPercent(total, whole)} with what that calls`,
        color: palette.colorOf(kind, module), self};
    });
  const firstModule = parts.find(({kind}) => kind === 'native')?.module ?? '';
  const others = [
    {text: 'inlined (paler)', title: 'Functions inlined into others have their module’s colour, but paler',
      color: palette.colorOf('inlined', firstModule), self: -1, shown: has.has('inlined')},
    {text: 'process, thread', title: 'Names of processes and threads', color: palette.colorOf('process', ''),
      self: -1, shown: has.has('process') || has.has('thread')},
  ];
  return [...entries, ...others.filter(({shown}) => shown)];
}

/** @param {Entry} entry */
function itemOf({text, title, color}) {
  const swatch = element('span', '');
  swatch.style.backgroundColor = color;
  const item = element('li', '', swatch, element('span', text));
  item.title = title;
  return item;
}

export class Legend {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    /** @type {Entry[]} */ this.entries = [];
    this.whole = false;
    this.width = 0;
    new ResizeObserver(() => {
      if (list.clientWidth !== this.width)
        this.lay();
    }).observe(list);
  }

  /** @param {Entry[]} entries what must not be left out first */
  show(entries) {
    this.entries = entries;
    this.lay();
  }

  lay() {
    this.width = this.list.clientWidth;
    this.list.classList.toggle('whole', this.whole);
    if (this.whole) {
      this.fill(this.entries.length);
      return;
    }
    // The largest number that fits, by halving: each try makes the browser lay out the list.
    let fits = 1;
    let tooMany = Math.min(this.entries.length, MOST_TRIED) + 1;
    while (fits + 1 < tooMany) {
      const tried = (fits + tooMany) >> 1;
      this.fill(tried);
      if (this.fitting())
        fits = tried;
      else
        tooMany = tried;
    }
    this.fill(fits);
  }

  /** Is the last item on one of the first lines? */
  fitting() {
    const [first, last] = [this.list.firstElementChild, this.list.lastElementChild];
    if (!first || !last)
      return true;
    const line = first.getBoundingClientRect();
    return last.getBoundingClientRect().bottom < line.top + (LINES + 0.5) * line.height;
  }

  /** @param {number} count of entries to show, by their self value */
  fill(count) {
    const shown = this.entries.slice(0, count).sort((a, b) => b.self - a.self);
    this.list.replaceChildren(...shown.map(itemOf));
    const left = this.entries.slice(count);
    if (left.length || this.whole)
      this.list.append(element('li', '', this.button(left)));
  }

  /** @param {Entry[]} left out */
  button(left) {
    const button = element('button', this.whole ? 'fewer' : `+${left.length} more`);
    button.title = left.slice(0, MOST_TRIED).map(({text}) => text).join('\n');
    button.addEventListener('click', () => {
      this.whole = !this.whole;
      this.lay();
      /** @type {HTMLElement | null} */ (this.list.querySelector('button'))?.focus();
    });
    return button;
  }
}
