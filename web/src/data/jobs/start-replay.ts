/**
 * Runs the input of a job again, in a fork of its context that ends with that input, with other settings. The context of
 * the job is not changed. A fork in which a job may have started is never deleted.
 */
import type { Client, ConfigPatch, Context, Job, OutputSchema, WorkerConfig } from 'nightshift/client';
import { isRefusal } from './api-refusal.ts';
import type { ToolMode, Wanted } from './replay-settings.ts';

export type Replay = {
  messageId: string;
  title: string;
  wanted: Wanted;
  tools: ToolMode;
  outputSchema: OutputSchema | null;
};

/**
 * A replay that was begun. A repeated attempt sends the same requests with the same idempotency keys. `fork` null: it is
 * not known. `config`: of the fork; null: not known yet. `isSent`: the request that starts the job was sent.
 */
export type Attempt = {
  key: string;
  replay: Replay;
  fork: Context | null;
  config: ConfigPatch | null;
  isSent: boolean;
};

/** `unknown`: the API gave no definite answer. The attempt can be repeated. */
export type Started = { kind: 'started'; jobId: string } | { kind: 'unknown'; attempt: Attempt; error: unknown };

export function beginReplay(replay: Replay): Attempt {
  // `crypto.randomUUID` is not available on pages without TLS.
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
  return { key, replay, fork: null, config: null, isSent: false };
}

/**
 * Throws if the API refuses the replay; its fork is deleted then. `sessionUser`: for whom the session acts; null: it
 * names users.
 */
export async function startReplay(
  client: Client,
  job: Job,
  attempt: Attempt,
  sessionUser: string | null,
): Promise<Started> {
  const { key, replay } = attempt;
  let { fork, config, isSent } = attempt;
  try {
    const { messageId: from_message_id, title, outputSchema } = replay;
    const once = { idempotencyKey: `${key}-fork` };
    fork ??= await client.contexts.fork(job.context_id, { from_message_id, title }, once);
    // Once: the settings that it depends on are those of the fork, which it changes.
    config ??= await configOf(client, job, fork, replay);
    if (!isSent) await client.contexts.update(fork.id, { config });
    isSent = true;
    const options = {
      metadata: job.metadata,
      ...(outputSchema === null ? {} : { output_schema: outputSchema }),
      ...(sessionUser !== null || job.user === null ? {} : { user: job.user }),
    };
    const { job_id: jobId } = await client.contexts.retry(fork.id, options, { idempotencyKey: `${key}-job` });
    return { kind: 'started', jobId };
  } catch (error) {
    if (attempt.isSent || !isRefusal(error))
      return { kind: 'unknown', attempt: { ...attempt, fork, config, isSent }, error };
    // What kept the job from starting is the error to show.
    if (fork !== null) await client.contexts.delete(fork.id).catch(() => undefined);
    throw error;
  }
}

async function configOf(client: Client, job: Job, fork: Context, { wanted, tools }: Replay): Promise<ConfigPatch> {
  return { ...settingsPatch(wanted, fork.config, job.role !== null), ...(await toolsPatch(client, fork, tools)) };
}

/**
 * The model is always written: the config of the fork may have been changed meanwhile, or its role. `hasRole`: what the
 * config lacks may come from a role.
 */
export function settingsPatch(
  { model, systemPrompt, parameters }: Wanted,
  config: WorkerConfig,
  hasRole: boolean,
): ConfigPatch {
  const own: WorkerConfig = hasRole ? config : { system_prompt: '', parameters: {}, ...config };
  const patch: ConfigPatch = { model };
  if (systemPrompt !== own.system_prompt) patch.system_prompt = systemPrompt;
  if (JSON.stringify(parameters) !== JSON.stringify(own.parameters)) patch.parameters = parameters;
  return patch;
}

/** Calls of these tools wait by themselves, and change nothing. */
const WAITING_TOOLS = ['ask_user', 'sleep_until'];

async function toolsPatch(client: Client, fork: Context, tools: ToolMode): Promise<ConfigPatch> {
  switch (tools) {
    case 'ask': {
      const { effective } = await client.workers.effective(fork.worker_id);
      const free = (effective?.offered_tools ?? []).filter(
        ({ name, field, rule }) => field === 'tools' && WAITING_TOOLS.includes(name) && rule === null,
      );
      // The first rule that matches a tool applies.
      return {
        approval: [
          ...free.map(({ name }) => ({ tool: name, decision: 'never' as const })),
          { tool: '*', decision: 'always' },
          ...(fork.config.approval ?? []),
        ],
      };
    }
    case 'none':
      return { tools: [], client_tools: [], mcp_servers: [] };
    case 'same':
      return {};
  }
}
