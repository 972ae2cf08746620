/** `status`: a short summary of the platform. */
import type { Command } from 'commander';
import { NightshiftError, type Client, type Health, type Readiness, type Stats } from '../../../client/index.ts';
import { apiCommand, carryOut, print, type Cli, type Common } from '../../cli.ts';
import { EXIT } from '../../exit.ts';
import { count } from '../../terminal/time.ts';

type PlatformStatus = {
  url: string;
  health: Health['status'];
  readiness: Readiness | { status: 'away'; detail: string };
  stats: Stats | null;
};

export function statusCommand(cli: Cli): Command {
  return apiCommand('status', 'show the status of the platform: health, queue, running and waiting jobs', [
    'nightshift status',
    'nightshift status --json | jq .stats.queue_depth',
  ]).action((options: Common) =>
    carryOut(cli, options, async (client) => {
      const status = await readStatus(client, cli.url);
      print(cli, options, status, format(status, cli.screen.ink));
      return status.readiness.status === 'away' ? EXIT.unavailable : EXIT.completed;
    }),
  );
}

/** Without PostgreSQL, the status reports that the API is not ready and has no statistics. */
async function readStatus(client: Client, url: string): Promise<PlatformStatus> {
  const { status: health } = await client.system.health();
  try {
    const readiness = await client.system.ready({ retries: 0 });
    return { url, health, readiness, stats: await client.system.stats() };
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'unavailable') throw error;
    return { url, health, readiness: { status: 'away', detail: error.message }, stats: null };
  }
}

function format({ url, readiness, stats }: PlatformStatus, ink: Cli['screen']['ink']): string {
  const lines = [`${url}: ${describe(readiness, ink)}`];
  if (stats !== null) {
    const { queue_depth, running, waiting, by_state } = stats;
    lines.push(`Jobs: ${queue_depth} queued, ${running} running, ${waiting} waiting`);
    const states = Object.entries(by_state).map(([state, contexts]) => `  ${state}: ${contexts}`);
    const all = Object.values(by_state).reduce((sum, contexts) => sum + contexts, 0);
    lines.push(`Contexts: ${count(all, 'context')}`, ...states);
  }
  return `${lines.join('\n')}\n`;
}

function describe(readiness: PlatformStatus['readiness'], ink: Cli['screen']['ink']): string {
  switch (readiness.status) {
    case 'ok':
      return ink('green', 'ready');
    case 'degraded':
      return ink('yellow', 'ready, but Redis is unavailable: jobs start with a short delay');
    case 'away':
      return ink('red', `not ready: ${readiness.detail}`);
  }
}
