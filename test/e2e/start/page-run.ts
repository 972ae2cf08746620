// Runs what a page shows beside a platform, in its order: requests and commands of its scripts, and programs that use
// the client. What needs more than a platform (services, installations, a reader's own values) only test/docs looks
// at.
import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { blocksOf, fileNameOf, placeOf, type Block } from '../../docs/blocks.ts';
import { hasPlaceholder, readScript, statementsOf, transcriptOf } from '../../docs/shell.ts';
import { endsAsShown, isAsShown, shownIn } from '../../docs/shown.ts';
import type { PageShell, Ran } from './page-shell.ts';

/** Programs that change nothing but the platform. */
const HARMLESS = 'cat curl cut echo grep head printf sed sleep sort tail test true wc nightshift'.split(' ');
/** Not on every machine: without it, what needs it does not run. */
const hasJq = spawnSync('jq', ['--version']).status === 0;
const NOT_RUN = ['start', 'api', 'worker', 'worker-health', 'migrate', 'doctor', 'completion'];
/** How a response of the API begins that refuses the request. */
const PROBLEM = /^\{"type":"[^"]*","title":"[^"]*","status":[45]/m;

/** For what runs in the background. */
const PATIENCE_MS = 30_000;
const ENDLESS = ['-f', '--follow', '--watch'];

/** `file`: one that others import or run, of the page and of the platform's config file. */
export type Step = Block & { kind: 'config' | 'file' | 'program' | 'script' };

/** Empty where nothing of the page can run. */
export function stepsOf(page: string): Step[] {
  const functions: string[] = [];
  const files: string[] = [];
  const steps = blocksOf(page).flatMap((block): Step[] => {
    const kind = block.words.includes('outside') ? null : kindOf(block, functions, files);
    if (kind === 'script') functions.push(...readScript(block.text).functions);
    if (kind === 'program' || kind === 'file') files.push(...block.words);
    return kind === null ? [] : [{ ...block, kind }];
  });
  return steps.some(({ kind }) => kind === 'program' || kind === 'script') ? steps : [];
}

function kindOf(block: Block, functions: readonly string[], files: readonly string[]): Step['kind'] | null {
  const { language, text, given } = block;
  switch (language) {
    case 'ts':
      if (text.includes('defineConfig(')) return 'config';
      if (fileNameOf(block) !== null && !text.includes('createClient(')) return 'file';
      return text.includes('createClient(') && given === '' ? 'program' : null;
    case 'ini':
      return fileNameOf(block) === null ? null : 'file';
    case 'sh':
      return canRun(text, functions, files) ? 'script' : null;
    case 'console':
      return transcriptOf(text).every(({ command }) => canRun(command, functions, files)) ? 'script' : null;
    default:
      return null;
  }
}

function canRun(script: string, functions: readonly string[], files: readonly string[]): boolean {
  const { commands, functions: own } = readScript(script);
  const isKnown = (program: string): boolean =>
    HARMLESS.includes(program) || (program === 'jq' && hasJq) || functions.includes(program) || own.includes(program);
  if (hasPlaceholder(script) || script.replaceAll(/#.*/g, '').includes('…')) return false;
  if (/https?:\/\/(?!127\.0\.0\.1:3000)/.test(script)) return false;
  return commands.every(({ words: [first = '', ...rest] }) => {
    const [program = '', ...args] = first === 'npx' ? rest : [first, ...rest];
    if (program === '') return true;
    if (program === 'node') return files.includes(args.find((one) => one !== '--test') ?? '');
    const isFinite = !args.some((word) => ENDLESS.includes(word)) && !NOT_RUN.includes(args[0] ?? '');
    return isKnown(program) && (program !== 'nightshift' || isFinite);
  });
}

/** Returns what the step wrote. Throws where a command fails or writes something else than the page shows. */
export async function runStep(shell: PageShell, step: Step): Promise<string> {
  switch (step.kind) {
    case 'config':
      return '';
    case 'file':
      await shell.write(fileNameOf(step) ?? '', step.text);
      return '';
    case 'program':
      return runProgram(shell, step);
    case 'script':
      if (step.given !== '') await runAlone(shell, step, step.given);
      return step.language === 'console' ? runTranscript(shell, step) : runScript(shell, step);
  }
}

/** One that names its file is run by a command of the page. */
async function runProgram(shell: PageShell, step: Step): Promise<string> {
  const [file = `block-${step.line}.ts`] = step.words;
  await shell.write(file, step.text);
  if (step.words.length > 0) return '';
  const { output } = await runAlone(shell, step, `node ${file}`);
  const expected = [...step.text.matchAll(/\/\/ → (.*)$/gm)].map(([, line = '']) => line);
  if (expected.length > 0) expect(endsAsShown(output, expected), different(step, output)).toBe(true);
  return output;
}

async function runTranscript(shell: PageShell, step: Step): Promise<string> {
  const outputs: string[] = [];
  for (const { command, output } of transcriptOf(step.text)) {
    const ran = await runAlone(shell, step, command);
    expect(isAsShown(ran.output, output), different(step, ran.output)).toBe(true);
    outputs.push(ran.output);
  }
  return outputs.join('\n');
}

async function runScript(shell: PageShell, step: Step): Promise<string> {
  const outputs: string[] = [];
  for (const { code, expected } of shownIn(step.text)) {
    const statements = statementsOf(code);
    for (const [index, statement] of statements.entries()) {
      const isShown = expected.length > 0 && index === statements.length - 1;
      outputs.push(
        isShown ? await runShown(shell, step, statement, expected) : (await runAlone(shell, step, statement)).output,
      );
    }
  }
  return outputs.filter((output) => output !== '').join('\n');
}

/** A request that only reads is repeated until it answers as shown, since jobs run in the background. */
async function runShown(shell: PageShell, step: Step, statement: string, expected: readonly string[]): Promise<string> {
  const begun = performance.now();
  for (;;) {
    const { output } = await runAlone(shell, step, statement, true);
    if (endsAsShown(output, expected)) return output;
    const isLast = !readsOnly(statement) || performance.now() - begun > PATIENCE_MS;
    expect(isLast, different(step, output)).toBe(false);
    await setTimeout(200);
  }
}

const readsOnly = (statement: string): boolean =>
  readScript(statement).commands.every(
    ({ words: [program], words }) =>
      program !== undefined &&
      program !== 'nightshift' &&
      !words.some((word) => /^(?:-[dFTX]|--data|--json|--request)/.test(word)),
  );

async function runAlone(shell: PageShell, step: Step, commands: string, isShown = false): Promise<Ran> {
  const ran = await shell.run(commands);
  const place = `${placeOf(step)}: ${commands}\n${ran.output}`;
  expect(ran.code, place).toBe(0);
  if (!isShown) expect(ran.output, place).not.toMatch(PROBLEM);
  return ran;
}

const different = (step: Step, output: string): string =>
  `${placeOf(step)}: the page shows another output than\n${output}`;
