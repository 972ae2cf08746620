// Errors of the command line: one line with what to do, and with --json one JSON object on stderr.
import { expect, test } from 'vitest';
import { run } from './command-line.ts';

const AWAY = 'http://127.0.0.1:1';

test('an error is one line that says what to do', async () => {
  for (const [args, code, text] of [
    [['jobs', '--nope'], 2, "Unknown option '--nope'. Did you mean --role? Run `nightshift jobs --help`."],
    [['jobz'], 2, "Unknown command 'jobz'. Did you mean one of job, jobs? Run `nightshift --help`."],
    [['job'], 2, "Missing required argument 'job'. Run `nightshift job --help`."],
    [
      ['jobs', '--url', 'nonsense'],
      2,
      'The API URL is invalid. Set NIGHTSHIFT_URL or --url to an http:// or https:// URL.',
    ],
    [
      ['jobs', '--url', AWAY],
      3,
      `No API answers at ${AWAY} (unreachable). Start it with \`nightshift start\`, or set NIGHTSHIFT_URL or --url.`,
    ],
  ] as const)
    expect(await run(args)).toEqual({ code, out: '', err: `nightshift: ${text}\n` });
});

test('with --json it is one object with code, message and status, also for wrong arguments', async () => {
  for (const [args, exit, fault] of [
    [['jobs', '--nope', '--json'], 2, { code: 'usage', message: expect.stringContaining("'--nope'"), status: null }],
    [['--json', 'jobz'], 2, { code: 'usage', message: expect.stringContaining('jobz'), status: null }],
    [['tokens', '--json'], 2, { code: 'usage', message: 'A subcommand is missing.', status: null }],
    [
      ['job', '12', '--json', '--url', AWAY],
      1,
      { code: 'refused', message: expect.stringContaining('12'), status: null },
    ],
    [
      ['jobs', '--json', '--url', AWAY],
      3,
      { code: 'unreachable', message: expect.stringContaining(AWAY), status: null },
    ],
  ] as const) {
    const { code, out, err } = await run(args);
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: exit, out: '', lines: 2 });
    expect(JSON.parse(err)).toEqual(fault);
  }
});

test('--url, --profile and --json may stand before the command, between its parts, and after it', async () => {
  for (const args of [
    ['--url', AWAY, '--json', 'keys', 'revoke', '01a21fdc-ef8f-77df-a7c5-204f1478119d'],
    ['keys', '--url', AWAY, 'revoke', '--json', '01a21fdc-ef8f-77df-a7c5-204f1478119d'],
    ['keys', 'revoke', '01a21fdc-ef8f-77df-a7c5-204f1478119d', '--json', '--url', AWAY],
  ]) {
    const { code, err } = await run(args);
    expect(code).toBe(3);
    expect(JSON.parse(err)).toMatchObject({ code: 'unreachable' });
  }
  expect((await run(['--url', AWAY, 'logout'])).err).toContain("'--url <url>' cannot be used with logout");
  expect((await run(['--profile', 'none', 'jobs'])).err).toContain('No profile is named none');
});
