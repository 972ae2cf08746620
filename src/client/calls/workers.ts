/** Workers and roles. */
import { pagesOf } from '../pages.ts';
import type {
  CreateWorker,
  CreatedWorker,
  FirstMessage,
  Operations,
  PatchWorker,
  PostMessage,
  RoleDefinition,
} from '../schema.ts';
import type { Request, RequestOptions } from '../transport.ts';

export function workerCalls(request: Request) {
  return {
    /** Creates a worker and its context, and queues its first input if there is one. */
    create: createCall(request),
    /** Reads a worker. */
    get: (id: string, options?: RequestOptions) => request('GET', '/api/workers/{id}', { path: { id }, ...options }),
    /** Reads a worker with the settings that apply to it, in `effective`, and where each comes from. */
    effective: (id: string, options?: RequestOptions) =>
      request('GET', '/api/workers/{id}', { path: { id }, query: { include: 'effective' }, ...options }),
    /** Workers that match a filter, newest first. */
    list: (query: Operations['GET /api/workers']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/workers', { query: { ...query, ...more }, ...options })),
    /** Changes a worker; null removes a field of the config. */
    update: (id: string, body: PatchWorker, options?: RequestOptions) =>
      request('PATCH', '/api/workers/{id}', { path: { id }, body, ...options }),
    /** Deletes the worker permanently, with its context and the workers below it. */
    delete: (id: string, options?: RequestOptions) =>
      request('DELETE', '/api/workers/{id}', { path: { id }, ...options }),
    /** Cancels jobs and refuses inputs until `start`. */
    stop: (id: string, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/stop', { path: { id }, ...options }),
    /** Starts a stopped worker and all workers below it: accepts inputs and runs queued jobs. */
    start: (id: string, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/start', { path: { id }, ...options }),
    /** The worker and all workers below it, with their states and jobs. */
    tree: (id: string, query: Operations['GET /api/workers/{id}/tree']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/workers/{id}/tree', { path: { id }, query, ...options }),
    /** Posts an input to the context of the worker. */
    send: (id: string, input: string | PostMessage, options?: RequestOptions) =>
      request('POST', '/api/workers/{id}/messages', { path: { id }, body: toInput(input), ...options }),
  };
}

/** A worker to create. */
export type NewWorker = Omit<CreateWorker, 'input'> & {
  /** The first input, posted in the same request: a text, or an object with `content` and more. */
  input?: string | FirstMessage;
};

/** The answer to a `NewWorker` with an input. */
export type WorkerWithJob = CreatedWorker & Required<Pick<CreatedWorker, 'job_id' | 'message_id' | 'stream_url'>>;

function createCall(request: Request) {
  function create(
    worker: NewWorker & Required<Pick<NewWorker, 'input'>>,
    options?: RequestOptions,
  ): Promise<WorkerWithJob>;
  function create(worker: NewWorker, options?: RequestOptions): Promise<CreatedWorker>;
  function create({ input, ...worker }: NewWorker, options?: RequestOptions): Promise<CreatedWorker> {
    const body = input === undefined ? worker : { ...worker, input: toInput(input) };
    return request('POST', '/api/workers', { body, ...options });
  }
  return create;
}

export function toInput<Message extends FirstMessage>(input: string | Message): Message | { content: string } {
  return typeof input === 'string' ? { content: input } : input;
}

export function roleCalls(request: Request) {
  return {
    /** Reads a role, in its current or an older version; with `include: 'effective'` also the settings that apply. */
    get: (name: string, query: Operations['GET /api/roles/{name}']['query'] = {}, options?: RequestOptions) =>
      request('GET', '/api/roles/{name}', { path: { name }, query, ...options }),
    /** Roles, sorted by name. */
    list: (query: Operations['GET /api/roles']['query'] = {}, options?: RequestOptions) =>
      pagesOf((more) => request('GET', '/api/roles', { query: { ...query, ...more }, ...options })),
    /** The versions of a role, newest first, also of a deleted one. Those of the config file have none. */
    versions: (
      name: string,
      query: Operations['GET /api/roles/{name}/versions']['query'] = {},
      options?: RequestOptions,
    ) =>
      pagesOf((more) =>
        request('GET', '/api/roles/{name}/versions', { path: { name }, query: { ...query, ...more }, ...options }),
      ),
    /** Creates the role, or a new version of it. */
    put: (name: string, body: RoleDefinition, options?: RequestOptions) =>
      request('PUT', '/api/roles/{name}', { path: { name }, body, ...options }),
    /** Deletes a role. Workers made from it keep their version. */
    delete: (name: string, options?: RequestOptions) =>
      request('DELETE', '/api/roles/{name}', { path: { name }, ...options }),
  };
}
