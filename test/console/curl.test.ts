// The commands that the page of a job copies: a real shell runs them, with a curl that prints what it gets.
import { execFileSync } from 'node:child_process';
import { assert, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../src/client/index.ts';
import { curlOfInput, curlOfRead, curlOfRetry, quote } from '../../web/src/pages/job/copy/curl.ts';

const ORIGIN = 'https://nightshift.example';
const TARGET = { origin: ORIGIN, needsKey: true };
const JOB = { id: 'job-1', context_id: 'context-1', branch: 'main', user: null };

const CURL = String.raw`curl() { printf '%s\0' "$@"; case " $* " in *' @- '*) cat; esac; }`;

/** The arguments that the shell gives to curl; the last one is what it can read from its input. */
function run(command: string): string[] {
  const printed = execFileSync('sh', ['-s'], {
    env: { ...process.env, NIGHTSHIFT_API_KEY: 'the key of the shell' },
    input: `${CURL}\n${command}\n`,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return printed.split('\0');
}

const text = (given: string): ContentBlock[] => [{ type: 'text', text: given }];
const AUTHORIZED = ['-H', 'Authorization: Bearer the key of the shell'];
const AS_JSON = ['-H', 'Content-Type: application/json'];

describe('a command', () => {
  test('reads the job, with the key of the shell, which it names', () => {
    const command = curlOfRead(TARGET, JOB);
    expect(command).toContain('$NIGHTSHIFT_API_KEY');
    expect(run(command)).toEqual([`${ORIGIN}/api/jobs/job-1`, ...AUTHORIZED, '']);
  });

  test('has no header for a key where the API asks for none', () => {
    expect(run(curlOfRead({ origin: ORIGIN, needsKey: false }, JOB))).toEqual([`${ORIGIN}/api/jobs/job-1`, '']);
  });

  test('posts the input with the options of the job, and as its user', () => {
    const said = `it's "$HOME" \`id\` $(id) \\ !\nand 'more'`;
    const [url, ...rest] = run(curlOfInput(TARGET, { ...JOB, user: "o'neil" }, text(said)));
    expect(url).toBe(`${ORIGIN}/api/contexts/context-1/messages`);
    expect(rest.slice(0, 5)).toEqual([...AUTHORIZED, ...AS_JSON, '--data-raw']);
    expect(JSON.parse(rest[5] ?? '')).toEqual({ content: said, branch: 'main', user: "o'neil", options_of: 'job-1' });
  });

  test('posts all blocks of an input that is not one text', () => {
    const content: ContentBlock[] = [...text('this'), ...text('and that')];
    const printed = run(curlOfInput(TARGET, JOB, content));
    expect(JSON.parse(printed.at(-2) ?? '')).toEqual({ content, branch: 'main', options_of: 'job-1' });
  });

  test('gives a large input to curl on its standard input', () => {
    const said = `${"it's $HOME\n".repeat(200_000)}END_OF_BODY\n`;
    const printed = run(curlOfInput(TARGET, JOB, text(said)));
    expect(printed.slice(-3, -1)).toEqual(['--data-binary', '@-']);
    expect(JSON.parse(printed.at(-1) ?? '')).toMatchObject({ content: said });
  });

  test('runs on the history again', () => {
    const printed = run(curlOfRetry(TARGET, JOB));
    expect(printed[0]).toBe(`${ORIGIN}/api/contexts/context-1/jobs`);
    expect(JSON.parse(printed.at(-2) ?? '')).toEqual({ branch: 'main', options_of: 'job-1' });
  });
});

test('any text stays the same through the quotes', () => {
  const texts = string({ unit: 'grapheme', maxLength: 20 }).filter((one) => !one.includes('\0'));
  assert(
    property(texts, (given) => {
      expect(run(`curl ${quote(given)}`)).toEqual([given, '']);
    }),
    { numRuns: 40 },
  );
});
