/** Carries out one line of a chat. */
import type { Client, Interrupt } from '../../client/index.ts';
import { choicesOf, readAnswer, sendAnswer } from '../asking/answer.ts';
import type { Item } from '../asking/item.ts';
import type { Cli } from '../cli.ts';
import { oneLine } from '../terminal/safe.ts';
import { count } from '../terminal/time.ts';
import { SLASH_HELP } from './slash.ts';
import type { Line } from './slash.ts';
import type { Standing } from './standing.ts';

const STOPPED_WITHIN_MS = 10_000;

type Actions = {
  /** `line`: the line exactly as typed. */
  carryOut(line: string, read: Line): Promise<void>;
  interrupt(mode: NonNullable<Interrupt['mode']>): Promise<void>;
};

export function openActions({ screen }: Cli, client: Client, contextId: string, standing: Standing): Actions {
  const note = (line: string): void => screen.note(screen.sideInk('dim', line));

  const interrupt: Actions['interrupt'] = async (mode) => {
    note('Interrupting …');
    const ended = await client.contexts.interrupt(contextId, { mode, wait_ms: STOPPED_WITHIN_MS });
    if (ended.job_id === null) return note('No job is running.');
    const removed = ended.removed_messages.length;
    if (removed > 0) note(`${count(removed, 'message')} removed.`);
    for (const { name, status } of ended.effects) note(`Had already started: ${oneLine(name)} (${status}).`);
  };

  const send = async (content: string, steer: boolean): Promise<void> => {
    const message = { content, ...(steer ? { delivery: 'steer' as const } : {}) };
    standing.sent((await client.contexts.send(contextId, message)).job_id);
  };

  const answer = async (item: Item, line: string): Promise<void> => {
    const read = readAnswer(item, line);
    if (read === null) return note(`  ${choicesOf(item)}`);
    standing.taken(item);
    if (read === 'later') return;
    if (!(await sendAnswer(client, item, read))) note('It was already answered elsewhere.');
  };

  const branch = async (name: string | null): Promise<void> => {
    const branches = await client.contexts.branches.list(contextId, { limit: 200 }).all();
    if (name === null) {
      for (const { name, active, message_count } of branches)
        screen.note(
          `${active ? '*' : ' '} ${oneLine(name)} ${screen.sideInk('dim', count(message_count, 'message'))}`,
        );
    } else if (branches.some((one) => one.name === name)) {
      await client.contexts.branches.switch(contextId, name);
      note(`On branch ${oneLine(name)}.`);
    } else {
      await client.contexts.branches.create(contextId, { name, activate: true });
      note(`On branch ${oneLine(name)} (new, forked from the current branch).`);
    }
  };

  const printPlace = async (): Promise<void> => {
    const { worker_id, active_branch } = await client.contexts.get(contextId);
    const { state, why } = await client.contexts.state(contextId);
    note(
      `context ${contextId} · worker ${worker_id} · branch ${oneLine(active_branch)} · ${state}: ${oneLine(why)}`,
    );
  };

  return {
    interrupt,
    async carryOut(line, read) {
      const item = standing.asked();
      // While an item waits for the person, the next line answers it.
      if (item !== null && (read.kind === 'text' || read.kind === 'nothing')) return answer(item, line);
      switch (read.kind) {
        case 'text':
          return send(read.text, false);
        case 'steer':
          return send(read.text, true);
        case 'interrupt':
          return interrupt(read.mode);
        case 'branch':
          return branch(read.name);
        case 'retry':
          return standing.sent((await client.contexts.retry(contextId)).job_id);
        case 'context':
          return printPlace();
        case 'help':
          return screen.note(SLASH_HELP.trimEnd());
        case 'wrong':
          return note(read.why);
        case 'nothing':
        case 'quit':
      }
    },
  };
}
