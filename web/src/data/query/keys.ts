/**
 * Query keys. All queries of a context but those of its tool calls start with `['context', id]`, all queries of a job
 * with `['job', id]`: invalidating the shorter key invalidates all longer ones.
 */
import type { QueryKey } from '@tanstack/react-query';
import type { AuditEntry, Change, Context, WorkerConfig } from 'nightshift/client';
import type { JobFilter } from '../jobs/job-filter.ts';

export type ContextFilter = {
  archived?: boolean;
  state?: Context['state'][];
  /** False: without those of workers that other workers created. */
  spawned?: boolean;
  parent_worker_id?: string;
  /** `activity`: the most recently active first. */
  sort?: 'activity';
  q?: string;
};
export type AuditFilter = {
  actor?: string;
  action?: AuditEntry['action'];
  target?: string;
  after?: string;
  before?: string;
};
export type SearchFilter = {
  q: string;
  context_id?: string;
  worker_id?: string;
  role?: string;
  message_role?: 'user' | 'assistant';
  created_after?: string;
  created_before?: string;
};

export const keys = {
  session: ['session'] as const,
  /** The polling of a list: invalidating it reads one page of the list again. */
  refresh: (list: readonly unknown[]) => ['refresh', ...list] as const,
  contexts: ['contexts'] as const,
  contextList: (filter: ContextFilter) => ['contexts', filter] as const,
  context: (id: string) => ['context', id] as const,
  contextRecord: (id: string) => ['context', id, 'record'] as const,
  versioned: (id: string) => ['versioned', id] as const,
  contextState: (id: string) => ['context', id, 'state'] as const,
  /** Read again with the state. */
  lastJob: (id: string) => ['context', id, 'state', 'last-job'] as const,
  messages: (id: string) => ['context', id, 'messages'] as const,
  messageList: (id: string, branch: string) => ['context', id, 'messages', branch] as const,
  /** The first and the last message. */
  endsOfBranch: (id: string, branch: string) => ['context', id, 'ends', branch] as const,
  queues: (id: string) => ['context', id, 'queue'] as const,
  queue: (id: string, branch: string) => ['context', id, 'queue', branch] as const,
  turns: (id: string) => ['context', id, 'turns'] as const,
  branches: (id: string) => ['context', id, 'branches'] as const,
  siblings: (id: string, messageId: string) => ['context', id, 'siblings', messageId] as const,
  messageRecord: (id: string, messageId: string) => ['context', id, 'message', messageId] as const,
  compacted: (id: string, branch: string) => ['context', id, 'compacted', branch] as const,
  compactions: (id: string) => ['context', id, 'compactions'] as const,
  /** Not below the key of its context: its stream has no events of theirs. */
  children: (id: string) => ['children', id] as const,
  childrenList: (id: string, archived: boolean) => ['children', id, archived] as const,
  /** Not below the key of its context: lists of messages bring their calls along. */
  toolCall: (id: string, callId: string) => ['tool', id, callId] as const,
  /** Not below the key of its job: it changes with its step only. `state`: of the step. */
  stepCall: (callId: string, state: string) => ['step-call', callId, state] as const,
  callLog: (jobId: string, callId: string, isOver: boolean) => ['job', jobId, 'log', callId, isOver] as const,
  jobs: ['jobs'] as const,
  jobList: (filter: JobFilter) => ['jobs', filter] as const,
  /** What a retry would do. Not below the key of jobs: the retry itself changes it. */
  retry: (target: unknown) => ['retry', target] as const,
  job: (id: string) => ['job', id] as const,
  jobRecord: (id: string) => ['job', id, 'record'] as const,
  jobLog: (id: string, level: string) => ['job-log', id, level] as const,
  steps: (id: string) => ['job', id, 'steps'] as const,
  replay: (id: string) => ['replay', id] as const,
  prompt: (id: string, n: number) => ['prompt', id, n] as const,
  workers: ['workers'] as const,
  worker: (id: string) => ['worker', id] as const,
  effective: (id: string) => ['effective', id] as const,
  promptLimits: (id: string, config: WorkerConfig) => ['prompt-limits', id, config] as const,
  /** Not below the key of its context: without the stream of the context, it is read again with the worker. */
  workerState: (id: string) => ['worker', id, 'state'] as const,
  tree: (id: string) => ['tree', id] as const,
  trees: ['tree'] as const,
  approvals: ['approvals'] as const,
  apiKeys: ['api-keys'] as const,
  audit: (filter: AuditFilter) => ['audit', filter] as const,
  tenants: ['tenants'] as const,
  webhooks: ['webhooks'] as const,
  deliveries: (id: string) => ['deliveries', id] as const,
  /** Below the deliveries of its webhook. */
  delivery: (id: string, deliveryId: string) => ['deliveries', id, deliveryId] as const,
  roles: ['roles'] as const,
  roleVersions: (name: string) => ['roles', name, 'versions'] as const,
  role: (name: string) => ['role', name] as const,
  schedules: ['schedules'] as const,
  scheduleRuns: (id: string) => ['schedule-runs', id] as const,
  /** Of the command palette. */
  palette: (text: string) => ['palette', text] as const,
  processes: ['processes'] as const,
  processList: (live: boolean) => ['processes', live] as const,
  stats: ['stats'] as const,
  history: (spanS: number) => ['history', spanS] as const,
  tools: ['tools'] as const,
  toolUse: (hours: number) => ['tool-use', hours] as const,
  system: ['system'] as const,
  /** null: the tenant of this session. */
  usage: (tenant: string | null) => ['usage', tenant] as const,
  search: (filter: SearchFilter) => ['search', filter] as const,
};

/** What shows contexts, beside what has the stream of one. Keys that begin like these are meant, too. */
const OF_CONTEXTS: readonly QueryKey[] = [
  keys.refresh(keys.jobs),
  keys.refresh(keys.contexts),
  keys.refresh(keys.schedules),
  keys.approvals,
  keys.trees,
  keys.stats,
  ['children'],
  ['worker'],
  ['history'],
  ['schedule-runs'],
  ['deliveries'],
];

/** Decisions, and changes of everything else, are in the audit log. */
const AUDIT: QueryKey = keys.refresh(['audit']);

const STALE: { readonly [Resource in Change['resource']]: readonly QueryKey[] } = {
  contexts: [...OF_CONTEXTS, AUDIT],
  schedules: [keys.schedules, ['schedule-runs'], AUDIT],
  webhooks: [keys.webhooks, ['deliveries'], AUDIT],
  roles: [keys.roles, AUDIT],
  keys: [keys.apiKeys, AUDIT],
  all: [...OF_CONTEXTS, keys.webhooks, keys.roles, keys.apiKeys, AUDIT],
};

/** Those that are read again after a change of one of these. */
export function staleAfter(resources: readonly Change['resource'][]): QueryKey[] {
  return [...new Set(resources.flatMap((resource) => STALE[resource]))];
}
