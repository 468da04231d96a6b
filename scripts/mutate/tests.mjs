// The tests that a change of a file can affect, nearest first, and what they say.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';

const imported = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Tests of the command as it was built, and the simulator's own: the one does not load the changed file, the other is counted apart. */
const isLeftOut = (file, text) => /^test\/(simulation|mutations|peers|documents)\//.test(file) || text.includes('moor-process.ts');
/** They start containers, or mount. */
const isHeavy = (file) => /^test\/(sandbox|mounts|kubectl|up)\//.test(file);

/** Every path has some of them. */
const common = new Set(['src', 'test', 'ts']);

const wordsOf = (path) => new Set(path.split(/[/.]/).flatMap((part) => (common.has(part) ? [] : [part, part.replace(/s$/, '')])));

/** Many tests start a whole cluster, and so load every file: those that are named as the file is are about it. */
function sharedWords(test, changed) {
  const words = wordsOf(changed);
  return [...wordsOf(test)].filter((word) => words.has(word)).length;
}

/** From a file to the tests that load it, with how many imports are between them: those next to it first, then those of its name. */
export function testsOf(root, files) {
  const importers = new Map();
  const leftOut = new Set();
  for (const file of files.filter((name) => /\.[mc]?ts$/.test(name))) {
    const text = readFileSync(join(root, file), 'utf8');
    if (file.endsWith('.test.ts') && isLeftOut(file, text)) leftOut.add(file);
    for (const [, path] of text.replaceAll(/^import type .*$/gm, '').matchAll(imported)) {
      const target = posix.join(posix.dirname(file), path);
      importers.set(target, [...(importers.get(target) ?? []), file]);
    }
  }
  return (changed) => {
    const distance = new Map([[changed, 0]]);
    for (const [file, far] of distance) for (const by of importers.get(file) ?? []) if (!distance.has(by)) distance.set(by, far + 1);
    return Array.from(distance)
      .filter(([file, far]) => file.endsWith('.test.ts') && !leftOut.has(file) && (far <= 1 || !isHeavy(file)))
      .sort(([a, near], [b, far]) => Number(near > 1) - Number(far > 1) || sharedWords(b, changed) - sharedWords(a, changed) || near - far || (a < b ? -1 : 1))
      .map(([file, far]) => ({ file, far }));
  };
}

/** The first failure of these tests, if any; 'timeout' if they do not end. */
export function failureOf(root, tests, limitMs) {
  const output = join(root, 'vitest-report.json');
  rmSync(output, { force: true });
  return new Promise((done) => {
    const limits = ['--bail=1', '--testTimeout=90000', '--maxWorkers=1'];
    // Only the mutant's file differs from one run to the next: what the others were compiled to is kept.
    const cache = ['--experimental.fsModuleCache', `--experimental.fsModuleCachePath=${join(root, '.vitest-cache')}`];
    const args = ['run', ...limits, ...cache, '--reporter=json', `--outputFile=${output}`, ...tests];
    const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], { cwd: root, stdio: 'ignore', detached: true });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      done(timedOut ? 'timeout' : code === 0 ? undefined : readFailure(root, output));
    });
  });
}

function readFailure(root, output) {
  try {
    const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
    const file = testResults.find(({ status }) => status === 'failed');
    const title = file?.assertionResults.find(({ status }) => status === 'failed')?.fullName ?? file?.message ?? '';
    return { file: file?.name.replace(`${root}/`, '') ?? '', title };
  } catch {
    return { file: '', title: 'vitest did not report' };
  }
}
