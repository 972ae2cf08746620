// An actor that requests compactions, in three of ten schedules. It uses its own random numbers: the other actors act
// as they do without it.
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { interruptContext } from '../../../src/commands/contexts/interrupt-context.ts';
import { COMPACTOR_TYPES } from '../../../src/core/compaction/type.ts';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { command } from './actors.ts';
import { oneOf, seeded, type Lane, type Random, type Script } from './scheduler.ts';
import type { World } from './world.ts';

/** How often it looks for a compaction before it goes on without. */
const LOOKS = 40;

/**
 * Submits work that is long enough for compactions; where the limit is small, one is due before nearly every answer.
 */
export async function compacts(world: World, admin: Database, seed: number, lane: Lane): Promise<Script[]> {
  const random = seeded(seed + 2 ** 31);
  if (random() < 0.7) return [];
  if (random() < 0.7) {
    const type = oneOf(random, ['llm', 'llm', 'threshold'] as const);
    world.room = { contextLimit: 1_000, compaction: { type, threshold: 0.1, keepTurns: 1, model: null } };
  }
  const begins = oneOf(random, [
    ['plain', 'work'],
    ['work', 'plain'],
    ['work', 'work'],
  ] as const);
  for (const text of begins) await world.submit(admin, 'admin', text);
  const acts = [1, 2, 3].map(() => actOf(world, random, lane));
  return [
    {
      lane,
      run: async () => {
        for (const act of acts) await act();
      },
    },
  ];
}

function actOf(world: World, random: Random, lane: Lane): () => Promise<void> {
  const { database, name } = lane;
  const target = { tenantId: DEFAULT_TENANT, contextId: world.contextId };
  const asked = { type: oneOf(random, COMPACTOR_TYPES), keep_turns: oneOf(random, [0, 1]) };
  const mode = oneOf(random, INTERRUPT_MODES);
  const place = oneOf(random, [0, 1, -1]);
  const whose = oneOf(random, ['any', 'running', 'own', 'own'] as const);
  const look = async (wanted: typeof whose): Promise<void> => {
    for (let looks = 0; looks < LOOKS; looks += 1) if (await world.hasCompacted(database, wanted)) return;
  };
  switch (oneOf(random, ['ask', 'ask', 'interrupt', 'interrupt', 'edit', 'regenerate', 'clear'] as const)) {
    case 'ask':
      return () => world.compact(database, name, asked);
    case 'interrupt':
      return async () => {
        await look(whose);
        await command(world, lane, interruptContext(world.ports(database), { ...target, mode, by: null }));
      };
    case 'edit':
      return async () => {
        await look('any');
        await world.retryAnswer(database, name, 'edit', place, 'work', 'queue');
      };
    case 'regenerate':
      return async () => {
        await look('any');
        await world.retryAnswer(database, name, 'regenerate', place, 'work', 'queue');
      };
    case 'clear':
      return async () => {
        await look('any');
        const work = clearContext(world.ports(database), { ...target, isCurrent: () => true });
        for (let times = 0; times < 5; times += 1) await command(world, lane, work);
        await world.submit(database, name, 'work');
      };
  }
}
