/**
 * Runs the input of a job again, in a fork of its context that ends with that input, with other settings. The context of
 * the job is not changed.
 */
import { NightshiftError, type ConfigPatch, type Job } from 'nightshift/client';
import { client } from '../client.ts';
import type { Settings, ToolMode } from './replay-settings.ts';

/** As its first model call was sent; of a job without one, as its context has them. */
export async function readSettings(job: Job, signal: AbortSignal): Promise<Settings> {
  try {
    const sent = await client.jobs.prompt(job.id, 1, { signal });
    return {
      model: sent.model,
      systemPrompt: sent.system,
      parameters: sent.parameters,
      outputSchema: sent.output_schema ?? false,
      isExact: !sent.differs.some((part) => part === 'system' || part === 'parameters'),
    };
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'not_found') throw error;
    const { config } = await client.contexts.get(job.context_id, { signal });
    return {
      model: job.model,
      systemPrompt: config.system_prompt ?? '',
      parameters: config.parameters ?? {},
      outputSchema: null,
      isExact: false,
    };
  }
}

export type Replay = { settings: Settings; patch: ConfigPatch; tools: ToolMode; title: string };

/** The id of the new job. If it cannot be started, the fork is deleted again. */
export async function startReplay(job: Job, messageId: string, replay: Replay): Promise<string> {
  const { outputSchema } = replay.settings;
  const fork = await client.contexts.fork(job.context_id, { from_message_id: messageId, title: replay.title });
  try {
    const config = { ...replay.patch, ...toolsOf(replay.tools, fork.config.approval ?? []) };
    if (Object.keys(config).length > 0) await client.contexts.update(fork.id, { config });
    const { job_id: id } = await client.contexts.retry(fork.id, {
      metadata: job.metadata,
      ...(outputSchema === null ? {} : { output_schema: outputSchema }),
      ...(job.user === null ? {} : { user: job.user }),
    });
    return id;
  } catch (error) {
    // What kept the job from starting is the error to show.
    await client.contexts.delete(fork.id).catch(() => undefined);
    throw error;
  }
}

function toolsOf(tools: ToolMode, rules: NonNullable<ConfigPatch['approval']>): ConfigPatch {
  switch (tools) {
    case 'ask':
      // The first rule that matches a tool applies.
      return { approval: [{ tool: '*', decision: 'always' }, ...rules] };
    case 'none':
      return { tools: [], client_tools: [], mcp_servers: [] };
    case 'same':
      return {};
  }
}
