/**
 * Reconstructs the prompt of a past model call: messages from the history at that time, the rest from the current
 * settings of the worker and the stored list of tools. Hashes stored with the call show which parts differ from the
 * sent prompt.
 */
import { callSettings, type CallSettings } from '../../core/model/call-settings.ts';
import { createFingerprinter, lostAt, type Fingerprint, type PrefixPart } from '../../core/model/fingerprint.ts';
import type { JobId, TenantId } from '../../core/ids.ts';
import { LIMITS } from '../../core/limits.ts';
import { schemaFor } from '../../core/run/output.ts';
import { parseModelName, type ToolSpec } from '../../core/model/model.ts';
import { pinnedText } from '../../core/conversation/pinned.ts';
import { assemble, type PromptMessage } from '../../core/conversation/prompt.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { digest } from '../../db/model-calls/digest.ts';
import { readPast } from '../../db/run/history.ts';
import type { SentBy, SentCall } from '../../db/model-calls/model-calls.ts';
import { ReadLimitExceeded } from '../../db/connection/read-limit.ts';
import { readToolList } from '../../db/model-calls/tool-lists.ts';
import type { Catalog } from '../server/catalog.ts';
import type { Reader } from './reads.ts';

/** The parts of a request. `differs` lists the parts whose reconstruction differs from what was sent. */
export const SENT_PARTS = ['tools', 'system', 'messages', 'parameters'] as const;
type SentPart = (typeof SENT_PARTS)[number];

export type SentPrompt = {
  call: SentCall;
  /** Everything but tools and messages. */
  settings: CallSettings;
  /** Null: the list is no longer stored. */
  tools: ToolSpec[] | null;
  /** Null: they exceed the size limit. */
  messages: PromptMessage[] | null;
  differs: SentPart[];
  /** Null: no earlier request is known. */
  prefix: Prefix | null;
};

/**
 * `message`: index of the first message that differs from the request before; null: none, or it can no longer be
 * determined.
 */
type Prefix = { lostAt: PrefixPart | null; message: number | null };

type Of = Omit<SentBy, 'call'> & { tenantId: TenantId; jobId: JobId };

/** Reads the sent messages. If the prefix was lost in the messages, also reads those of the request before. */
export async function readSentPrompt(
  read: Reader,
  of: Of,
  call: SentCall,
  catalog: Pick<Catalog, 'fileRoles' | 'parameters'>,
): Promise<SentPrompt> {
  const { fingerprint, before } = call;
  const [listed, messages] = await Promise.all([
    read((_, last) => readToolList(last, of.tenantId, fingerprint.listed)),
    readMessages(read, of, fingerprint),
  ]);
  const settings = settingsOf(of, fingerprint, catalog);
  const tools = listed === null ? null : withClientTools(listed, of.worker.config, settings);
  const hashes = hashesOf(settings, tools, messages);
  const lost = before === null ? null : lostAt(before.fingerprint, before.answered, fingerprint);
  return {
    call,
    settings,
    tools,
    messages,
    differs: SENT_PARTS.filter((part) => hashes[part] !== fingerprint[part]),
    prefix:
      before === null
        ? null
        : {
            lostAt: lost,
            message: lost === 'messages' ? await firstOther(read, of, before.fingerprint, messages) : null,
          },
  };
}

async function readMessages(
  read: Reader,
  { contextId, tenantId, branch, jobId }: Of,
  { upto }: Fingerprint,
): Promise<PromptMessage[] | null> {
  const place = { contextId, tenantId };
  try {
    const past = await read((tx) => readPast(tx, { ...place, branch }, { upto, jobId }, LIMITS.shownPromptBytes));
    return assemble(past.history, past.compacted);
  } catch (error) {
    if (error instanceof ReadLimitExceeded) return null;
    throw error;
  }
}

function settingsOf(
  { worker, outputSchema }: Of,
  { model }: Fingerprint,
  { fileRoles, parameters }: Pick<Catalog, 'fileRoles' | 'parameters'>,
): CallSettings {
  const { role: name, definition, config } = worker;
  const role = definition ?? (name === null ? undefined : fileRoles.get(name));
  const isOfFile = name !== null && definition === null;
  const provider = parseModelName(model)?.provider ?? 'simulated';
  const settings = callSettings(config, role ?? {}, { provider, allowed: parameters, isOfFile });
  return { ...settings, outputSchema: schemaFor({ outputSchema }, settings) };
}

/** Sorted by name, like a worker process sends them. A server-side tool hides a client tool of the same name. */
function withClientTools(
  listed: readonly ToolSpec[],
  { client_tools: theirs = [] }: WorkerConfig,
  { mode }: CallSettings,
): ToolSpec[] {
  const others = mode === 'act' ? theirs.filter(({ name }) => !listed.some((tool) => tool.name === name)) : [];
  return [...listed, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Hashes of the reconstructed parts; null for a part that is missing. */
function hashesOf(
  { systemPrompt, pinned, outputSchema, ...beside }: CallSettings,
  tools: ToolSpec[] | null,
  messages: PromptMessage[] | null,
): Record<SentPart, string | null> {
  return {
    tools: tools === null ? null : FINGERPRINTS.tools(tools),
    system: FINGERPRINTS.system(systemPrompt, pinnedText(pinned), outputSchema),
    messages: messages === null ? null : FINGERPRINTS.messages(messages),
    parameters: FINGERPRINTS.parameters(beside),
  };
}

const FINGERPRINTS = createFingerprinter(digest);

async function firstOther(
  read: Reader,
  of: Of,
  before: Fingerprint,
  messages: PromptMessage[] | null,
): Promise<number | null> {
  const earlier = messages === null ? null : await readMessages(read, of, before);
  if (messages === null || earlier === null || FINGERPRINTS.messages(earlier) !== before.messages) return null;
  const at = earlier.findIndex((was, index) => JSON.stringify(was) !== JSON.stringify(messages[index]));
  return at < 0 ? null : at;
}
