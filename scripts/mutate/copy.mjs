// A copy of the tree, into which one mutant at a time is put.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { mutate } from './operators.mjs';

const root = resolve(import.meta.dirname, '../..');

const trackedFiles = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));

/** A copy of the tree, so that tests run on the mutant's source. */
export class Copy {
  constructor(folder) {
    this.root = join(folder, 'tree');
  }

  refresh() {
    rmSync(this.root, { recursive: true, force: true });
    for (const file of trackedFiles()) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      cpSync(join(root, file), join(this.root, file));
    }
    symlinkSync(join(root, 'node_modules'), join(this.root, 'node_modules'));
    writeFileSync(join(this.root, 'files.json'), JSON.stringify(trackedFiles()));
  }

  files() {
    return JSON.parse(readFileSync(join(this.root, 'files.json'), 'utf8'));
  }

  text(file) {
    return readFileSync(join(this.root, file), 'utf8');
  }

  /** Runs `work` while the mutant is in the copy. */
  async with(mutant, work) {
    const text = this.text(mutant.file);
    writeFileSync(join(this.root, mutant.file), mutate(text, mutant, mutant.replace));
    try {
      return await work();
    } finally {
      writeFileSync(join(this.root, mutant.file), text);
    }
  }
}

/** The compiler, kept running: a change of one file takes a quarter of a second. */
export class TypeChecker {
  #api;
  #snapshot;

  constructor(root) {
    this.#api = new API({ cwd: root });
    this.#snapshot = this.#api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] });
  }

  accepts(file) {
    const before = this.#snapshot;
    this.#snapshot = this.#api.updateSnapshot({ fileChanges: { changed: [file] } });
    before.dispose();
    const { program } = this.#snapshot.getProjects()[0];
    return program.getSyntacticDiagnostics(file).length === 0 && program.getSemanticDiagnostics(file).length === 0;
  }

  close() {
    this.#api.close();
  }
}
