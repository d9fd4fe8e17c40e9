// SPDX-License-Identifier: Apache-2.0
// The parts of the page that need no browser: the tree, the search, the texts.

import assert from 'node:assert/strict';

import { Palette, hueOf, oklch } from '../../web/colors.js';
import { Profile, ROOT, compileSearch } from '../../web/profile.js';
import { LabelFitter, formatBytes, formatDuration, formatPercent, formatValue } from '../../web/text.js';
import { done, test } from './support.mjs';

/** A profile of stacks written as "a;b;c", with a value each. */
function profileOf(stacks) {
  const root = {children: new Map(), self: 0};
  for (const [path, value] of stacks) {
    let node = root;
    for (const name of path.split(';').filter(Boolean)) {
      if (!node.children.has(name))
        node.children.set(name, {children: new Map(), self: 0});
      node = node.children.get(name);
    }
    node.self += value;
  }
  const names = [...new Set(stacks.flatMap(([path]) => path.split(';')))].filter(Boolean).sort();
  const data = {info: {}, strings: ['', 'm', ...names], kinds: ['native'], noStack: root.self,
    frames: names.flatMap((_, i) => [i + 2, 1, 0, 0, 0]), up: [], frame: [], self: []};
  let last = 0;
  const visit = (node, level) => {
    for (const [name, child] of node.children) {
      data.up.push(last - level);
      data.frame.push(names.indexOf(name));
      data.self.push(child.self);
      last = level + 1;
      visit(child, level + 1);
    }
  };
  visit(root, 0);
  return new Profile(data);
}

function randomStacks(seed) {
  const below = limit => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % limit;
  };
  return Array.from({length: 200}, () =>
    [Array.from({length: 1 + below(9)}, () => `f${below(5)}`).join(';'), below(4)]);
}

await test('the tree has totals, ranges, levels and positions', () => {
  const p = profileOf([['a;b', 3], ['a;c;d', 4], ['a', 1], ['e', 2], ['', 5]]);
  assert.deepEqual([...p.total], [15, 8, 3, 4, 4, 2]);
  assert.deepEqual([...p.end], [6, 5, 3, 5, 5, 6]);
  assert.deepEqual([...p.level], [0, 1, 2, 2, 3, 1]);
  assert.deepEqual([...p.start], [0, 0, 0, 3, 3, 8]);
  assert.deepEqual([...p.height], [3, 2, 0, 1, 0, 0]);
  assert.deepEqual([...p.callees(ROOT)], [1, 5]);
});

await test('an empty profile is a tree of one node', () => {
  const p = profileOf([]);
  assert.equal(p.count, 1);
  assert.equal(p.total[ROOT], 0);
  assert.deepEqual([...p.callees(ROOT)], []);
});

await test('what a search matched agrees with counting every stack, in every zoom', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const stacks = randomStacks(seed);
    const p = profileOf(stacks);
    const wanted = seed % 2 ? ['f1'] : ['f1', 'f3'];
    const matches = Uint8Array.from(p.labels, label => wanted.includes(label) ? 1 : 0);
    for (let node = 0; node < p.count; node++) {
      const path = [];
      for (let i = node; i !== ROOT; i = p.parent[i])
        path.unshift(p.labelOf(i));
      const expected = stacks.filter(([stack]) => {
        const frames = stack.split(';');
        return path.every((name, i) => frames[i] === name) &&
          frames.slice(Math.max(0, path.length - 1)).some(name => wanted.includes(name));
      }).reduce((sum, [, value]) => sum + value, 0);
      assert.equal(p.matchedWithin(matches, node), expected);
    }
  }
});

await test('a node is found again by its id, in another profile too', () => {
  const p = profileOf(randomStacks(7));
  for (let node = 0; node < p.count; node++)
    assert.equal(p.findNode(p.nodeId(node)), node);
  const one = profileOf([['a;b;c', 1]]);
  const two = profileOf([['b;c', 1], ['a;x', 1], ['a;b;c', 1]]);
  const found = two.findNode(one.nodeId(3));
  assert.equal(two.labelOf(found), 'c');
  assert.equal(two.level[found], 3);
});

await test('names without letters of their own are made visible', () => {
  const p = new Profile({info: {}, strings: ['', 'a\u202eb\nc', 'lib.so'], kinds: ['native'],
    frames: [1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0], noStack: 0, up: [], frame: [], self: []});
  assert.deepEqual(p.names, ['a\ufffdb\ufffdc', 'lib.so', '[unknown]']);
});

await test('a search is a text in any case, or an expression between slashes', () => {
  const finds = (query, label) => compileSearch(query)(label);
  assert.ok(finds('READ', 'vfs_read'));
  assert.ok(finds(' read ', 'vfs_read'));
  assert.ok(finds('a.c', 'f (a.c:1)') && !finds('a.c', 'abc'));
  assert.ok(finds('/^vfs_.*d$/', 'vfs_read') && !finds('/^read/', 'vfs_read'));
  assert.ok(finds('/', 'a/b') && finds('/usr', '/usr/lib'));
  assert.equal(compileSearch('  '), null);
  assert.throws(() => compileSearch('/(/'), SyntaxError);
});

await test('numbers are written for people', () => {
  assert.deepEqual([[0, 5], [1, 3], [5, 5], [1, 1e6], [0, 0], [99999, 100000]].map(([a, b]) => formatPercent(a, b)),
    ['0%', '33.33%', '100%', '<0.01%', '0%', '100%']);
  assert.deepEqual([999, 1500, 12345678, 1e9, 59.94e9, 61e9, 3600e9, 3725e9].map(formatDuration),
    ['999 ns', '1.50 µs', '12.3 ms', '1 s', '59.9 s', '1 min 1 s', '1 h', '1 h 2 min 5 s']);
  assert.deepEqual([0, 1023, 1536, 5 * 2 ** 30].map(formatBytes), ['0 B', '1023 B', '1.50 KiB', '5 GiB']);
  assert.equal(formatValue(1, {unit: 'samples', period: 1e7}), '1 sample ≈ 10 ms');
  assert.equal(formatValue(1234, {unit: 'samples', period: 0}), '1,234 samples');
  assert.equal(formatValue(2e9, {unit: 'nanoseconds'}), '2 s');
  assert.equal(formatValue(2048, {unit: 'bytes'}), '2 KiB');
});

await test('labels are cut to their room, with an ellipsis', () => {
  const width = text => [...text].reduce((sum, c) => sum + (c === 'i' ? 3 : c > '\u2000' ? 11 : 7), 0);
  const fitter = new LabelFitter({measureText: text => ({width: width(text)})});
  const names = ['main', 'std::vector<int, std::allocator<int> >::push_back(int&&)', 'iiiiiiiiiiiiiiii',
    '🔥🔥🔥🔥🔥🔥🔥🔥🔥🔥🔥🔥', ''];
  for (const name of names)
    for (let room = 0; room < 500; room++) {
      const label = fitter.fit(name, room);
      assert.ok(width(label) <= room, `${label} in ${room}`);
      assert.ok(label.isWellFormed?.() ?? true);
      if (width(name) <= room)
        assert.equal(label, name);
      else
        assert.ok(label === '' || label.includes('…'));
    }
  assert.match(fitter.fit(names[1], 150), /^std::.*….*int&&\)$/);
  assert.equal(fitter.fit('abcdefgh', 32), 'abc…');
});

await test('colours are inside the range of the screen', () => {
  assert.equal(oklch(1, 0, 0), 'rgb(255 255 255)');
  assert.equal(oklch(0, 0, 0), 'rgb(0 0 0)');
  assert.equal(oklch(0.6279, 0.2577, 29.23), 'rgb(255 0 0)');
  assert.match(oklch(0.9, 0.4, 150), /^rgb\(\d+ \d+ \d+\)$/);
});

await test('a module has one colour in every page, and the common ones differ', () => {
  const palette = names => new Palette(profileOf(names.map(name => [name, 1])), 'light');
  const [one, two] = [palette(['a', 'b']), palette(['c'])];
  assert.equal(one.colorOf('native', 'libfoo.so.1'), two.colorOf('native', 'libfoo.so.1'));
  assert.equal(hueOf('libfoo.so.1'), hueOf('libfoo.so.2.0'));
  assert.equal(hueOf('libc.so.6'), hueOf('libc-2.31.so'));
  const libraries = ['libc.so.6', 'ld-linux-x86-64.so.2', 'libstdc++.so.6', 'libpthread.so.0', 'libm.so.6',
    'libgcc_s.so.1'];
  for (const program of ['server', 'python3.11', 'node', 'libc', 'a.out', '']) {
    const colors = [...libraries, program].map(module => one.colorOf('native', module));
    colors.push(one.colorOf('kernel', 'kernel'), one.colorOf('jit', '[anon]'));
    assert.equal(new Set(colors).size, colors.length, program);
  }
});

await test('every hue is in use', () => {
  const used = name => new Set(Array.from({length: 200}, (_, i) => hueOf(name(i)))).size;
  assert.equal(used(i => `lib${i}.so`), 6);
  assert.equal(used(i => `program${i}`), 4);
});

done();
