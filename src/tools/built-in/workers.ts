/**
 * Makes workers, and waits for them. Neither is run: the platform makes a child in the very commit that says so, and whoever
 * waits holds no slot. What cannot be carried out is refused here, with the words that any built-in tool has for wrong arguments.
 */
import { SPAWN_WORKER, WAIT_FOR_WORKERS, WAIT_MODES } from '../../core/worker-asks.ts';
import { ToolFault } from '../tool-fault.ts';
import type { Tool } from '../tool.ts';
import { builtIn } from './built-in.ts';

const SPAWN = {
  input: {
    type: 'string',
    minLength: 1,
    maxLength: 1_000_000,
    description: 'What it is to do, with all that it needs to know: it sees nothing of this conversation.',
  },
  name: { type: 'string', minLength: 1, maxLength: 256, description: 'How it is called.' },
  role: {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: 'The role it is made from. Without one it is made as you are.',
  },
  system_prompt: { type: 'string', maxLength: 1_000_000 },
  model: { type: 'string', minLength: 1, maxLength: 256, description: 'provider/model' },
  tools: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 256 },
    maxItems: 1_000,
    description: 'Names of the tools it gets: of yours, and those of its role.',
  },
  wait: {
    type: 'boolean',
    description:
      'true (the default): the result comes when it is done. false: at once; its answer is sent to you as a message.',
  },
  detached: { type: 'boolean', description: 'It goes on when you are stopped.' },
};

const WAIT = {
  worker_ids: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    maxItems: 1_000,
    description: 'Workers that you made, or that these made.',
  },
  mode: { enum: [...WAIT_MODES], description: 'all (the default), or any: the first that is done.' },
  timeout_s: {
    type: 'number',
    minimum: 0,
    maximum: 31_536_000,
    description: 'So many seconds at most; they go on after that.',
  },
};

export function workerTools(): Tool[] {
  return [
    builtIn({
      name: SPAWN_WORKER,
      description:
        'Makes a worker that does a part of the work by itself, with a conversation of its own. Several of them in one answer work at the same time.',
      properties: SPAWN,
      required: ['input'],
      effect: 'once',
      answeredBy: 'workers',
      execute: refuse,
    }),
    builtIn({
      name: WAIT_FOR_WORKERS,
      description:
        'Waits until workers below you are done with what they are doing now, and tells how each one ended.',
      properties: WAIT,
      required: ['worker_ids'],
      effect: 'none',
      answeredBy: 'workers',
      execute: refuse,
    }),
  ];
}

function refuse(): never {
  throw new ToolFault('invalid_input', 'These arguments cannot be carried out.');
}
