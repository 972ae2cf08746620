// A process dies at every effect around a call with durable steps, a worker that it starts, and an input that it queues.
import { afterAll, expect, test } from 'vitest';
import { depth } from '../../services/depth.ts';
import { readOutside } from '../outside/outside-tools.ts';
import { killChildren } from '../rig/children.ts';
import { history, transcript } from '../rig/stored.ts';
import { dieAtEachKind, dieEverywhere, type Play } from './crash-scenarios.ts';

afterAll(killChildren);

const WORK = 'call: trip {}\n---\nsay: done';

const play: Play = {
  inputs: [[WORK]],
  config: { tools: ['trip'] },
  async expect({ environment, contextIds: [contextId], jobIds: [jobId] }) {
    if (contextId === undefined) throw new Error('no context');
    expect(transcript(await history(environment.ports.database.db, contextId))).toEqual([
      `u1 user: ${WORK}`,
      'a1 assistant: →trip',
      'a1 tool: trip ← pack, leave',
      'a1 assistant: done',
      'u2 user: say: remembered',
      'a2 assistant: remembered',
    ]);
    const effects = readOutside(environment.file('outside')).filter(({ what }) => what === 'effect');
    expect(new Set(effects.map(({ key }) => key)).size).toBe(2);
    // One process died, so at most one step ran again.
    expect(effects.length).toBeLessThanOrEqual(3);
    const jobs = await environment.query('select parent_job_id, context_id, status from jobs order by id');
    expect(jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(jobs.filter((job) => job['parent_job_id'] === jobId)).toHaveLength(1);
    expect(jobs.filter((job) => job['context_id'] === contextId)).toHaveLength(2);
    const steps = await environment.query('select name from tool_steps order by ended_at');
    expect(steps.map(({ name }) => name)).toEqual(['pack', 'guide', 'remind', 'leave']);
  },
};

/** How many effects there are at least, and how many kinds of them. */
const LEAST = 9;
const KINDS = 4;

test.each(depth(['after'] as const, ['after', 'before'] as const))(
  'dying right %s an effect repeats at most one step, and starts everything once',
  { timeout: 240_000 },
  async (when) => {
    const isEach = depth(false, when === 'after');
    const died = await (isEach ? dieEverywhere(play, when) : dieAtEachKind(play, when));
    process.stdout.write(`died right ${when} ${died} effects of a call with steps\n`);
    expect(died).toBeGreaterThanOrEqual(isEach ? LEAST : KINDS);
  },
);
