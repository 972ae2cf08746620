/**
 * Writes the lossless document as text, one entry per line. Messages and compactions are numbered together from 1, so
 * the same context gives the same text in every database.
 */
import type { StoredBranch, StoredCompaction, StoredContext, StoredMessage } from '../../db/read/messages/export.ts';
import { toPublicUsage, type Usage } from '../../core/money/usage.ts';
import { toIso, toIsoOrNull } from '../request/instant.ts';
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportedBranch,
  type ExportedCompaction,
  type ExportedContext,
  type ExportedMessage,
  type ExportedUsage,
} from '../schemas/contexts/export.ts';

/** `pages`: all messages up to the snapshot of the context. */
export async function* documentOf(
  context: StoredContext,
  pages: AsyncIterable<StoredMessage[]>,
): AsyncGenerator<string> {
  const numbers = new Numbers(boundariesOf(context));
  const compactions = [...context.compactions];
  const linesBefore = (seq: number): string[] => {
    const lines: string[] = [];
    while ((compactions[0]?.seq ?? Infinity) < seq) {
      const [compaction] = compactions.splice(0, 1);
      if (compaction !== undefined) lines.push(compactionLine(compaction, numbers));
    }
    return lines;
  };
  let separator = '\n';
  const written = (lines: readonly string[]): string => {
    const text = lines.map((line, n) => (n === 0 ? separator : ',\n') + line).join('');
    if (lines.length > 0) separator = ',\n';
    return text;
  };
  yield `{"format":${JSON.stringify(EXPORT_FORMAT)},"version":${EXPORT_VERSION},\n"context":${JSON.stringify(toContext(context))},\n"entries":[`;
  for await (const page of pages) {
    const lines = page.flatMap((message) => [
      ...linesBefore(message.seq),
      JSON.stringify(toMessage(message, numbers.next(message.seq))),
    ]);
    yield written(lines);
  }
  yield written(linesBefore(Infinity));
  const branches = context.branches.map((branch) => JSON.stringify(toBranch(branch, numbers)));
  yield `\n],\n"branches":[\n${branches.join(',\n')}\n]}\n`;
}

/** Numbers entries, and maps boundaries (seqs that branches and compactions refer to) to entry numbers. */
class Numbers {
  readonly #boundaries: readonly number[];
  readonly #counts = new Map<number, number>();
  #given = 0;

  /** In ascending order. */
  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
  }

  next(seq: number): number {
    for (let at = this.#counts.size; (this.#boundaries[at] ?? Infinity) < seq; at += 1) {
      this.#counts.set(this.#boundaries[at] ?? 0, this.#given);
    }
    this.#given += 1;
    return this.#given;
  }

  /** The number of the last entry up to a boundary. */
  upTo(boundary: number): number {
    return this.#counts.get(boundary) ?? this.#given;
  }
}

function boundariesOf({ branches, compactions }: StoredContext): number[] {
  const all = [
    ...branches.flatMap(({ forkSeq, spans }) => [
      forkSeq,
      ...(spans ?? []).flatMap(({ after, upto }) => [after, upto]),
    ]),
    ...compactions.map(({ uptoSeq }) => uptoSeq),
  ].filter((seq) => seq !== null && seq !== undefined);
  return [...new Set(all)].sort((a, b) => a - b);
}

function toContext(context: StoredContext): ExportedContext {
  const { title, worker, config, activeBranch, turnCount, messageCount, requestCount, usage, createdAt } = context;
  return {
    title,
    worker,
    config,
    active_branch: activeBranch,
    turn_count: turnCount,
    message_count: messageCount,
    request_count: requestCount,
    usage: toUsage(usage),
    created_at: toIso(createdAt),
  };
}

function toMessage(message: StoredMessage, number: number): ExportedMessage {
  const { branch, role, type, turn, status, retraction, content, createdAt, completedAt, model } = message;
  return {
    type: 'message',
    number,
    branch,
    role,
    message_type: type,
    turn,
    status,
    ...(retraction !== null && { retraction: { cause: retraction.cause, at: toIso(retraction.at) } }),
    content,
    created_at: toIso(createdAt),
    completed_at: toIsoOrNull(completedAt),
    model:
      model === null
        ? null
        : {
            model_id: model.modelId,
            provider_id: model.providerId,
            finish_reason: model.finishReason,
            usage: toUsage(model.usage),
            attempt: message.attempt,
            called_at: toIsoOrNull(message.calledAt),
            first_byte_at: toIsoOrNull(message.firstByteAt),
          },
  };
}

function toUsage(usage: Usage): ExportedUsage {
  const { cost, cache_hit_ratio: _, ...tokens } = toPublicUsage(usage);
  return cost === null ? tokens : { ...tokens, cost };
}

function compactionLine(compaction: StoredCompaction, numbers: Numbers): string {
  const { seq, branch, uptoSeq, type, summary, model, tokensBefore, tokensAfter, createdAt } = compaction;
  const line: ExportedCompaction = {
    type: 'compaction',
    number: numbers.next(seq),
    branch,
    compactor: type,
    upto: numbers.upTo(uptoSeq),
    summary,
    model,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    created_at: toIso(createdAt),
  };
  return JSON.stringify(line);
}

function toBranch(branch: StoredBranch, numbers: Numbers): ExportedBranch {
  const { name, parentName, forkSeq, spans, messageCount, requestCount, usage, createdAt } = branch;
  return {
    name,
    parent: parentName,
    fork: forkSeq === null ? null : numbers.upTo(forkSeq),
    spans:
      spans?.map((span) => ({
        branch: span.branch,
        after: numbers.upTo(span.after),
        upto: span.upto === null || span.upto === undefined ? null : numbers.upTo(span.upto),
      })) ?? null,
    message_count: messageCount,
    request_count: requestCount,
    usage: toUsage(usage),
    created_at: toIso(createdAt),
  };
}
