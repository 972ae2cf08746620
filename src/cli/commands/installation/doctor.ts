/** `doctor`: checks the installation and advises how to fix problems. */
import type { Command } from 'commander';
import { apiCommand, carryOut, type Cli, type Common } from '../../cli.ts';
import type { Finding } from '../../doctor/finding.ts';
import { EXIT } from '../../exit.ts';
import { lookOf } from '../../terminal/ink.ts';
import { safe } from '../../terminal/safe.ts';
import { padEnd } from '../../terminal/width.ts';

const NAME_COLUMNS = 16;

export function doctorCommand(cli: Cli): Command {
  return apiCommand('doctor', 'check Node.js, services, migrations, keys and the API, and suggest fixes', [
    'nightshift doctor',
    'nightshift doctor --json | jq \'.checks[] | select(.status != "ok")\'',
    'nightshift doctor --call                  # one short call to a model of each provider with a key',
  ])
    .option('--call [model]', 'call a model with at most 16 tokens: this one, or one of each provider with a key')
    .action((options: Common & { call?: string | true }) =>
      carryOut(cli, options, async (client) => {
        // Loaded on demand: the checks load the database drivers, which no other command needs.
        const { examine } = await import('../../doctor/examine.ts');
        const checks: Finding[] = [];
        for await (const finding of examine({
          env: cli.env,
          cwd: process.cwd(),
          url: cli.url,
          client,
          call: options.call,
        })) {
          checks.push(finding);
          if (options.json !== true) cli.screen.out(format(finding, cli));
        }
        const isWell = checks.every(({ status }) => status !== 'fail');
        if (options.json === true) cli.screen.json({ ok: isWell, checks });
        return isWell ? EXIT.completed : EXIT.failed;
      }),
    );
}

function format({ name, status, detail, advice }: Finding, { screen }: Cli): string {
  const mark = screen.ink(lookOf(status), padEnd(status, 4));
  const indent = ' '.repeat(6 + NAME_COLUMNS);
  const rest = advice === null ? [] : [`${indent}→ ${advice}`];
  const [first = '', ...more] = safe(detail).split('\n');
  const lines = [`${mark}  ${padEnd(name, NAME_COLUMNS)}${first}`, ...more.map((line) => indent + line), ...rest];
  return lines.map((line) => `${line}\n`).join('');
}
