/** Reads the export of a context: the conversation of its active branch, as the jobs that made it. */
import { reads } from '../../core/conversation/branch.ts';
import { isToolResult, isToolUse, type Block, type ToolResultBlock } from '../../core/conversation/blocks.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { parserOf } from '../../api/import/parse.ts';
import { RequestRefused } from '../../api/response/problem.ts';
import { ContextExport, EXPORT_FORMAT, type ExportedMessage } from '../../api/schemas/contexts/export.ts';
import { TestKitError } from '../error.ts';

/** An answer of the model. `finishReason` null: the export has none. */
export type RecordedAnswer = { content: Block[]; finishReason: string | null };

/** An input, and the answers of the model until the next one. */
export type RecordedJob = { input: Block[]; answers: RecordedAnswer[] };

export type Recording = {
  role: string | null;
  config: WorkerConfig;
  /** Of the conversation, without the notes of the platform. */
  messages: { role: ExportedMessage['role']; content: Block[] }[];
  jobs: RecordedJob[];
  results: ReadonlyMap<ToolCallId, ToolResultBlock>;
  /** The names of all tools that were called. */
  tools: ReadonlySet<string>;
};

const parse = parserOf(ContextExport);

/** `recording`: the text of an export in the format `json`, or its parsed value. Throws a `TestKitError`. */
export function readRecording(recording: string | object): Recording {
  const { context, entries, branches } = parseDocument(typeof recording === 'string' ? readJson(recording) : recording);
  const { spans = null } = branches.find(({ name }) => name === context.active_branch) ?? {};
  const isShown = ({ branch, number }: ExportedMessage): boolean =>
    spans === null ? branch === context.active_branch : reads(spans, { branch, seq: number });
  const messages = entries
    .filter((entry) => entry.type === 'message')
    .filter((message) => message.status === 'completed' && isShown(message) && message.role !== 'system')
    // The schema is that of stored blocks.
    .map(({ role, content, model }) => ({ role, content: content as Block[], model }));
  const blocks = messages.flatMap(({ content }) => content);
  return {
    role: context.worker.role,
    config: context.config,
    messages,
    jobs: jobsIn(messages),
    results: new Map(blocks.filter(isToolResult).map((result) => [result.tool_use_id, result])),
    tools: new Set(blocks.filter(isToolUse).map(({ name }) => name)),
  };
}

type RecordedMessage = Pick<ExportedMessage, 'role' | 'model'> & { content: Block[] };

function jobsIn(messages: readonly RecordedMessage[]): RecordedJob[] {
  const jobs: RecordedJob[] = [];
  for (const { role, content, model } of messages) {
    if (role === 'user') jobs.push({ input: content, answers: [] });
    if (role !== 'assistant') continue;
    const job = jobs.at(-1);
    if (job === undefined) throw invalid('its first message is no input, so no job made it');
    job.answers.push({ content, finishReason: model?.finish_reason ?? null });
  }
  return jobs;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('it is no JSON');
  }
}

function parseDocument(value: unknown) {
  try {
    return parse(value, '');
  } catch (error) {
    if (error instanceof RequestRefused) throw invalid(error.message);
    throw error;
  }
}

function invalid(problem: string): TestKitError {
  const message = `The recording cannot be replayed: ${problem}. Make it with nightshift contexts export, or GET /api/contexts/{id}/export, in the format json (${EXPORT_FORMAT}).`;
  return new TestKitError('invalid_recording', message);
}
