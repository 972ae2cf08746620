/** Reads what a tool passes to `spawn` and `enqueue`. Throws `ToolError`. */
import type { AskedInput, AskedWorker } from '../../core/tools/starts.ts';
import { parseId, type ContextId } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { SPAWN_WORKER, parseWorkerAsk } from '../../core/workers/worker-asks.ts';
import { SETTINGS_BYTES } from '../../schema/build.ts';
import { validateByOwn } from '../registry/input.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { ToolError } from '../run/tool-error.ts';

const SHORT_TEXT = { type: 'string', minLength: 1, maxLength: 256 };
const INPUT = { type: 'string', minLength: 1, maxLength: 1_000_000 };
const METADATA = { type: 'object' };

/** The default priority of an input. */
const NORMAL = 5;

const checkSpawn = validateByOwn({
  type: 'object',
  properties: {
    input: INPUT,
    name: SHORT_TEXT,
    role: SHORT_TEXT,
    system_prompt: INPUT,
    model: SHORT_TEXT,
    tools: { type: 'array', items: SHORT_TEXT, maxItems: 1_000 },
    metadata: METADATA,
    detached: { type: 'boolean' },
  },
  required: ['input'],
  additionalProperties: false,
});

const checkEnqueue = validateByOwn({
  type: 'object',
  properties: {
    context_id: SHORT_TEXT,
    input: INPUT,
    priority: { type: 'integer', minimum: 1, maximum: 10 },
    metadata: METADATA,
  },
  required: ['context_id', 'input'],
  additionalProperties: false,
});

export async function readSpawn(options: unknown): Promise<AskedWorker> {
  const { metadata, ...asked } = await checked('spawn', checkSpawn, options);
  const ask = parseWorkerAsk(SPAWN_WORKER, { ...asked, wait: false });
  if (ask?.kind !== 'spawn') throw invalid('spawn', ['they are invalid']);
  return { ...ask, metadata: metadataOf('spawn', metadata) };
}

export async function readEnqueue(options: unknown): Promise<AskedInput> {
  const { context_id, input, priority, metadata } = await checked('enqueue', checkEnqueue, options);
  if (typeof context_id !== 'string' || typeof input !== 'string') throw invalid('enqueue', ['they are invalid']);
  const contextId = parseId<ContextId>(context_id);
  if (contextId === null) throw new ToolError(`No context has the id ${context_id}.`, { code: 'not_found' });
  return {
    contextId,
    input,
    priority: typeof priority === 'number' ? priority : NORMAL,
    metadata: metadataOf('enqueue', metadata),
  };
}

async function checked(
  what: string,
  validate: ReturnType<typeof validateByOwn>,
  options: unknown,
): Promise<JsonObject> {
  const copy = jsonCopy(options);
  if (copy === null) throw invalid(what, ['they are no object that JSON can express']);
  const result = await validate(copy);
  if (!result.ok) throw invalid(what, result.problems);
  return copy;
}

function metadataOf(what: string, metadata: unknown): JsonObject {
  if (!isJsonObject(metadata)) return {};
  if (Buffer.byteLength(JSON.stringify(metadata)) <= SETTINGS_BYTES) return metadata;
  throw invalid(what, [`/metadata has more than ${SETTINGS_BYTES} bytes of JSON`]);
}

function invalid(what: string, problems: readonly string[]): ToolError {
  return new ToolError(`The options of ${what} are invalid: ${problems.join('; ')}.`, { code: 'invalid_input' });
}
