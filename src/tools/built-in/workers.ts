/**
 * Tools to spawn workers and wait for them. Neither is executed here: the platform creates the child in the transaction
 * that stores the call, and a waiting call uses no slot. Calls that cannot be carried out are refused here as invalid
 * arguments.
 */
import { SPAWN_WORKER, WAIT_FOR_WORKERS, WAIT_MODES } from '../../core/workers/worker-asks.ts';
import { ToolFault } from '../run/tool-fault.ts';
import type { Tool } from '../registry/tool.ts';
import { builtIn } from './built-in.ts';

const SHORT_TEXT = { type: 'string', minLength: 1, maxLength: 256 };

const SPAWN = {
  input: {
    type: 'string',
    minLength: 1,
    maxLength: 1_000_000,
    description: 'The task, with everything the worker needs to know. It does not see this conversation.',
  },
  name: { ...SHORT_TEXT, description: 'The name of the worker.' },
  role: { ...SHORT_TEXT, description: 'The role of the worker. Default: the same settings as yours.' },
  system_prompt: { type: 'string', maxLength: 1_000_000 },
  model: { ...SHORT_TEXT, description: 'provider/model' },
  tools: {
    type: 'array',
    items: SHORT_TEXT,
    maxItems: 1_000,
    description: 'Names of its tools, from yours and those of its role.',
  },
  wait: {
    type: 'boolean',
    description:
      'true (default): the call returns when the worker is done. false: it returns immediately, and the answer is sent to you as a message.',
  },
  detached: { type: 'boolean', description: 'true: the worker continues when you are stopped.' },
};

const WAIT = {
  worker_ids: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: 1_000,
    description: 'Ids of your descendant workers.',
  },
  mode: { enum: [...WAIT_MODES], description: 'all (default), or any: wait for the first one.' },
  timeout_s: {
    type: 'number',
    minimum: 0,
    maximum: 31_536_000,
    description: 'Maximum seconds to wait. The workers continue after that.',
  },
};

export function workerTools(): Tool[] {
  return [
    builtIn({
      name: SPAWN_WORKER,
      description:
        'Spawns a worker that does part of the work in its own conversation. Several workers spawned in one answer run in parallel.',
      properties: SPAWN,
      required: ['input'],
      effect: 'once',
      answeredBy: 'workers',
      execute: refuse,
    }),
    builtIn({
      name: WAIT_FOR_WORKERS,
      description: 'Waits until descendant workers have finished their current jobs, and returns the result of each.',
      properties: WAIT,
      required: ['worker_ids'],
      effect: 'none',
      answeredBy: 'workers',
      execute: refuse,
    }),
  ];
}

function refuse(): never {
  throw new ToolFault('invalid_input', 'These arguments are invalid.');
}
