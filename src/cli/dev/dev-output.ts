/** What `nightshift dev` prints: for people on a terminal, else as JSON lines. */
import path from 'node:path';
import { VERSION } from '../../package-files.ts';
import type { EndedJob } from '../../db/read/jobs/ended-job.ts';
import type { JobId } from '../../core/ids.ts';
import type { createLog } from '../../platform/log.ts';
import type { Screen } from '../terminal/screen.ts';
import { count } from '../terminal/time.ts';
import { clockOf, formatLine } from './format-line.ts';
import { jobLine } from './job-line.ts';
import type { Ready } from './report.ts';

/** What is printed once, when the first process is ready. */
export type Setting = { folder: string; envFile: string | null; services: readonly string[] };

export type DevOutput = {
  /** A line of a process. */
  line(text: string): void;
  ready(ready: Ready, setting: Setting, isFirst: boolean): void;
  changed(files: readonly string[]): void;
  note(text: string): void;
  fault(text: string): void;
};

/** The processes write their own lines. */
export function jsonOutput(log: ReturnType<typeof createLog>): DevOutput {
  return {
    line: () => undefined,
    ready({ url, configFile, tools, roles }, { envFile }, isFirst) {
      log.info(
        { address: url, config_file: configFile, env_file: envFile, tools, roles },
        isFirst ? 'ready' : 'reloaded',
      );
    },
    changed: (files) => log.info({ files }, 'changed'),
    note: (text) => log.info(text),
    fault: (text) => log.error(text),
  };
}

/** `findEnded`: null if the job was deleted. `isVerbose`: nothing is hidden. */
export function prettyOutput(
  screen: Screen,
  findEnded: (id: JobId) => Promise<EndedJob | null>,
  isVerbose: boolean,
): DevOutput {
  const { ink } = screen;
  const out = (text: string): void => screen.out(`${text}\n`);
  const at = (): string => ink('dim', clockOf(new Date()));
  const showEnded = async (id: JobId, ended: Date): Promise<void> => {
    const job = await findEnded(id);
    if (job !== null) out(jobLine(job, ended, ink, screen.columns));
  };
  return {
    line(text) {
      const shown = formatLine(text, ink, isVerbose);
      if (shown.kind === 'text') out(shown.text);
      // Without the database there is no line. The processes log that it is away.
      if (shown.kind === 'ended') void showEnded(shown.jobId, shown.at).catch(() => undefined);
    },
    ready(ready, setting, isFirst) {
      if (isFirst) out(introduction(ready, setting, screen));
      else out(`${at()}  ${ink('green', '↻ reloaded')}  ${contents(ready)}`);
    },
    changed: (files) =>
      out(
        `${at()}  ${ink('dim', `changed: ${files.map((file) => path.relative(process.cwd(), file) || '.').join(', ')}`)}`,
      ),
    note: (text) => out(`${at()}  ${text}`),
    fault: (text) => out(`${at()}  ${ink('red', text)}`),
  };
}

const HEAD_COLUMNS = 11;

function introduction(ready: Ready, { folder, envFile, services }: Setting, { ink }: Screen): string {
  const inFolder = (file: string): string => path.relative(folder, file);
  const { configFile, providers, defaultModel } = ready;
  const rows: [string, string][] = [
    [
      'config',
      configFile === null ? 'none: write nightshift.config.ts' : `${inFolder(configFile)} (${contents(ready)})`,
    ],
    ['.env', envFile === null ? 'none' : `read ${inFolder(envFile)}`],
    ...services.map((line): [string, string] => ['service', line.replace(`${folder}${path.sep}`, '')]),
    ['models', providers.length === 0 ? 'simulated only: no key is set' : providers.join(', ')],
    ['default', defaultModel],
  ];
  return [
    '',
    `${ink('bold', `Nightshift ${VERSION}`)}  ${ink('cyan', ready.url)}`,
    ...rows.map(([head, text]) => `  ${ink('dim', head.padEnd(HEAD_COLUMNS))}${text}`),
    '',
    ink('dim', 'Changes are loaded at once. Ctrl-C stops.'),
    '',
  ].join('\n');
}

function contents({ tools, roles }: Ready): string {
  return `${count(tools, 'tool')}, ${count(roles, 'role')}`;
}
