// A shell that remembers, in which the commands of a page run: `nightshift`, `npx nightshift` and `node` are those of
// this repository, as an installation has them, and a stream that `curl -N` follows ends after a moment.
import { spawn } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../docs/markdown.ts';
import { programFile } from '../../services/programs.ts';

/** Where the pages say that the platform is. */
const PRINTED = 'http://127.0.0.1:3000';
const FOLLOWED_S = 2;

export type Ran = { code: number; output: string };

export type PageShell = {
  /** Resolves with what they wrote, to stdout and stderr. */
  run(commands: string): Promise<Ran>;
  /** A file of the page, in the folder of the shell. */
  write(file: string, text: string): Promise<void>;
  close(): void;
};

/** `folder`: of the page alone; `url`: of the platform, which may move. */
export async function openPageShell(folder: string, urlNow: () => string): Promise<PageShell> {
  const programs = await writePrograms(folder);
  const placed = (text: string): string => text.replaceAll(PRINTED, urlNow());
  const shell = spawn('sh', [], {
    cwd: folder,
    env: {
      PATH: `${programs}${path.delimiter}${process.env['PATH']}`,
      HOME: folder,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const script = path.join(programs, 'script');
  return {
    async run(commands) {
      await writeFile(script, placed(commands));
      shell.stdin.write(`export NIGHTSHIFT_URL=${urlNow()}\n. ${script} </dev/null 2>&1\necho "-- ended with $?"\n`);
      const said: string[] = [];
      for (;;) {
        const { done, value = '' } = await lines.next();
        if (done === true) throw new Error(`the shell ended:\n${said.join('\n')}`);
        // What a command writes last need not be a whole line.
        const [, rest = '', code] = /^(.*)-- ended with (\d+)$/.exec(value) ?? [];
        if (code !== undefined) return { code: Number(code), output: [...said, rest].join('\n') };
        said.push(value);
      }
    },
    async write(file, text) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), placed(text));
    },
    close: () => void shell.stdin.end(),
  };
}

/** Returns their folder. */
async function writePrograms(folder: string): Promise<string> {
  const programs = path.join(folder, '.programs');
  await mkdir(programs, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const names = path.join(programs, 'names.mjs');
  await writeFile(names, NAMES);
  const main = programFile('src/cli/main.ts');
  const scripts = {
    nightshift: `exec '${process.execPath}' '${main}' "$@"`,
    npx: `[ "$1" = nightshift ] || exit 1\nshift\nexec nightshift "$@"`,
    node: `exec '${process.execPath}' --import '${names}' "$@"`,
    curl: `PATH=\${PATH#*:}
case " $* " in
  *" -N "*) curl --max-time ${FOLLOWED_S} "$@"; [ $? -eq 28 ] ;;
  *) exec curl "$@" ;;
esac`,
  };
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(path.join(programs, name), `#!/bin/sh\n${text}\n`);
    await chmod(path.join(programs, name), 0o755);
  }
  return programs;
}

/** What npm makes of the package's name, without a build. */
const NAMES = `import { registerHooks } from 'node:module';
const entries = { nightshift: 'src/index.ts', 'nightshift/client': 'src/client/index.ts' };
registerHooks({
  resolve: (name, context, next) =>
    next(Object.hasOwn(entries, name) ? ${JSON.stringify(`file://${ROOT}/`)} + entries[name] : name, context),
});
`;
