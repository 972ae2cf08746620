/** Contexts: settings, messages, history and branches. */
import { followEvents, readHead, type EventsOptions } from '../events.ts';
import { pagesOf } from '../pages.ts';
import type { DataOf, JobOf, StandardJsonSchema } from '../output.ts';
import { runJob, type AnyRunOptions, type RunOptions } from '../run.ts';
import type {
  CompactContext,
  CreateBranch,
  CreateContext,
  EditMessage,
  ForkContext,
  ImportContext,
  Interrupt,
  Json,
  Operations,
  PatchContext,
  PatchMessage,
  PostJob,
  PostMessage,
  PutContext,
  Regenerate,
} from '../schema.ts';
import type { Request, RequestOptions, Transport } from '../transport.ts';
import { toInput } from './workers.ts';

type Query<Path extends keyof Operations> = Operations[Path]['query'];

export function contextCalls({ request, open }: Transport) {
  return {
    ...ownCalls(request),
    ...historyCalls(request),
    /** Messages, and inputs that wait. */
    messages: messageCalls(request),
    /** Branches of the conversation. */
    branches: branchCalls(request),
    /** Tools whose calls need no approval any more. */
    grants: grantCalls(request),
    /** Live events of the context. Reconnects by itself; yields each numbered event once. */
    events: (id: string, options?: EventsOptions) => followEvents(open, id, options),
    /** The seq of the last event of the context: a cursor for `after` and `upto`. */
    head: (id: string, { signal }: Pick<RequestOptions, 'signal'> = {}) => readHead(open, id, signal),
    /** Posts an input or follows a job, answers its requests, and resolves with the finished job. */
    run: runOf({ request, open }),
  };
}

/** Posts an input or follows a job, answers its requests, and resolves with the finished job. */
type Run = {
  /** `output`: a schema of a library; `output.data` of the job has its type. */
  <Output extends StandardJsonSchema>(
    id: string,
    options: RunOptions<Output> & { input: string | PostMessage; output: Output },
  ): Promise<JobOf<DataOf<Output>>>;
  /** `T`: the type of `output.data`, if the job has an `output_schema`. */
  <T = Json>(id: string, options: RunOptions): Promise<JobOf<T>>;
};

function runOf(transport: Transport): Run {
  return <T>(id: string, options: AnyRunOptions) => runJob<T>(transport, id, options);
}

function ownCalls(request: Request) {
  return {
    /** Creates a context and the worker that owns it. */
    create: (body: CreateContext = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts', { body, ...options }),
    /** Reads a context with its settings and usage. */
    get: (id: string, options?: RequestOptions) => request('GET', '/api/contexts/{id}', { path: { id }, ...options }),
    /** Contexts that match a filter, newest first. Archived ones only with `archived: true`. */
    list: (query: Query<'GET /api/contexts'> = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/contexts', { query: { ...query, ...more }, ...options })),
    /** Merges the config; null removes a field. */
    update: (id: string, body: PatchContext, options?: RequestOptions) =>
      request('PATCH', '/api/contexts/{id}', { path: { id }, body, ...options }),
    /** Replaces the whole config. */
    replace: (id: string, body: PutContext, options?: RequestOptions) =>
      request('PUT', '/api/contexts/{id}', { path: { id }, body, ...options }),
    /** Deletes the context, its worker and all workers below it, permanently. */
    delete: (id: string, options?: RequestOptions) =>
      request('DELETE', '/api/contexts/{id}', { path: { id }, ...options }),
    /** What the context does now, and what it waits for. */
    state: (id: string, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/state', { path: { id }, ...options }),
    /** Posts an input. The returned job already exists. */
    send: (id: string, input: string | PostMessage, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/messages', { path: { id }, body: toInput(input), ...options }),
    /** Starts a job on the existing history, without a new input. */
    retry: (id: string, body: PostJob = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/jobs', { path: { id }, body, ...options }),
    /** Interrupts the current job, and retracts or keeps its messages. */
    interrupt: (id: string, body: Interrupt = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/interrupt', { path: { id }, body, ...options }),
    /** Copies the context up to a message into a new one. Usage and cost stay with the original. */
    fork: (id: string, body: ForkContext = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/fork', { path: { id }, body, ...options }),
  };
}

function historyCalls(request: Request) {
  return {
    /** Turns in order: inputs, answers, and tool calls with their results. */
    turns: (id: string, query: Query<'GET /api/contexts/{id}/turns'> = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/contexts/{id}/turns', {
          path: { id },
          query: { ...query, ...more },
          ...options,
        }),
      ),
    /** Clears the context: its history, all branches but main, and its counters. */
    clear: (id: string, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/clear', { path: { id }, ...options }),
    /** Compacts the context by a job. It completes even if there is nothing to compact. */
    compact: (id: string, body: CompactContext = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/compact', { path: { id }, body, ...options }),
    /** Compactions of the context in order, with the messages that each replaces in prompts. */
    compactions: (id: string, query: Query<'GET /api/contexts/{id}/compactions'> = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/contexts/{id}/compactions', {
          path: { id },
          query: { ...query, ...more },
          ...options,
        }),
      ),
    /** Exports the context. Text if the format is `markdown`, else an object. */
    export: (id: string, query: Query<'GET /api/contexts/{id}/export'> = {}, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/export', { path: { id }, query, ...options }),
    /** Creates a context from an export, from pairs, or from a folder of the old layout. `user`: the end user whose context it becomes. */
    import: (body: ImportContext, { user, ...options }: RequestOptions & { user?: string } = {}) =>
      request('POST', '/api/contexts/import', { body, query: user === undefined ? {} : { user }, ...options }),
  };
}

function messageCalls(request: Request) {
  const path = (id: string, message_id: string) => ({ path: { id, message_id } });
  return {
    /** Messages in order; queued inputs last. */
    list: (id: string, query: Query<'GET /api/contexts/{id}/messages'> = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/contexts/{id}/messages', {
          path: { id },
          query: { ...query, ...more },
          ...options,
        }),
      ),
    /** Reads a message. */
    get: (id: string, messageId: string, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/messages/{message_id}', { ...path(id, messageId), ...options }),
    /** Changes the content of a delayed or queued input, or the position of a queued one. */
    update: (id: string, messageId: string, body: PatchMessage, options?: RequestOptions) =>
      request('PATCH', '/api/contexts/{id}/messages/{message_id}', {
        ...path(id, messageId),
        body,
        ...options,
      }),
    /** Withdraws a delayed or queued input. */
    withdraw: (id: string, messageId: string, options?: RequestOptions) =>
      request('DELETE', '/api/contexts/{id}/messages/{message_id}', { ...path(id, messageId), ...options }),
    /** Edits a past input and answers it on a new branch. */
    edit: (id: string, messageId: string, body: EditMessage, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/messages/{message_id}/edit', {
        ...path(id, messageId),
        body,
        ...options,
      }),
    /** Regenerates the answer to an input on a new branch. */
    regenerate: (id: string, messageId: string, body: Regenerate = {}, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/messages/{message_id}/regenerate', {
        ...path(id, messageId),
        body,
        ...options,
      }),
    /** Alternatives to a message on the branches of its context, itself included. */
    siblings: (id: string, messageId: string, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/messages/{message_id}/siblings', {
        ...path(id, messageId),
        ...options,
      }),
  };
}

function branchCalls(request: Request) {
  return {
    /** Branches of the context, oldest first. */
    list: (id: string, query: Query<'GET /api/contexts/{id}/branches'> = {}, options?: RequestOptions) =>
      pagesOf((more) =>
        request('GET', '/api/contexts/{id}/branches', {
          path: { id },
          query: { ...query, ...more },
          ...options,
        }),
      ),
    /** Creates a branch, which shares the messages before it. */
    create: (id: string, body: CreateBranch, options?: RequestOptions) =>
      request('POST', '/api/contexts/{id}/branches', { path: { id }, body, ...options }),
    /** Makes a branch the active one: it takes inputs that name no branch. */
    switch: (id: string, name: string, options?: RequestOptions) =>
      request('PUT', '/api/contexts/{id}/branches/{name}', { path: { id, name }, ...options }),
    /** Deletes a branch that is not active. Branches that share its messages keep them. */
    delete: (id: string, name: string, options?: RequestOptions) =>
      request('DELETE', '/api/contexts/{id}/branches/{name}', { path: { id, name }, ...options }),
  };
}

function grantCalls(request: Request) {
  return {
    /** Tools whose calls run without approval in the context. */
    list: (id: string, options?: RequestOptions) =>
      request('GET', '/api/contexts/{id}/grants', { path: { id }, ...options }),
    /** Later calls of the tool need approval again. */
    remove: (id: string, tool: string, options?: RequestOptions) =>
      request('DELETE', '/api/contexts/{id}/grants/{tool}', { path: { id, tool }, ...options }),
  };
}
