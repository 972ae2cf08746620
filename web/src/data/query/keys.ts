/**
 * Query keys. All queries of a context but those of its tool calls start with `['context', id]`, all queries of a job
 * with `['job', id]`: invalidating the shorter key invalidates all longer ones.
 */
import type { AuditEntry, Context, Job, Json } from 'nightshift/client';

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
export type JobStatus = Job['status'];
export type JobFilter = {
  status?: JobStatus[];
  kind?: Job['kind'];
  role?: string;
  /** The metadata of the job must contain it. */
  metadata?: { [name: string]: Json };
  context_id?: string;
  worker_id?: string;
  parent_job_id?: string;
  created_after?: string;
  created_before?: string;
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
  messages: (id: string) => ['context', id, 'messages'] as const,
  messageList: (id: string, branch: string) => ['context', id, 'messages', branch] as const,
  queues: (id: string) => ['context', id, 'queue'] as const,
  queue: (id: string, branch: string) => ['context', id, 'queue', branch] as const,
  turns: (id: string) => ['context', id, 'turns'] as const,
  branches: (id: string) => ['context', id, 'branches'] as const,
  siblings: (id: string, messageId: string) => ['context', id, 'siblings', messageId] as const,
  message: (id: string, messageId: string) => ['context', id, 'message', messageId] as const,
  compacted: (id: string, branch: string) => ['context', id, 'compacted', branch] as const,
  compactions: (id: string) => ['context', id, 'compactions'] as const,
  children: (id: string) => ['context', id, 'children'] as const,
  childrenList: (id: string, archived: boolean) => ['context', id, 'children', archived] as const,
  /** Not below the key of its context: lists of messages bring their calls along. */
  toolCall: (id: string, callId: string) => ['tool', id, callId] as const,
  callLog: (jobId: string, callId: string, isOver: boolean) => ['job', jobId, 'log', callId, isOver] as const,
  jobs: ['jobs'] as const,
  jobList: (filter: JobFilter) => ['jobs', filter] as const,
  job: (id: string) => ['job', id] as const,
  jobRecord: (id: string) => ['job', id, 'record'] as const,
  steps: (id: string) => ['job', id, 'steps'] as const,
  prompt: (id: string, n: number) => ['prompt', id, n] as const,
  workers: ['workers'] as const,
  worker: (id: string) => ['worker', id] as const,
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
  role: (name: string, version: number | null) => ['role', name, version] as const,
  schedules: ['schedules'] as const,
  scheduleRuns: (id: string) => ['schedules', id, 'runs'] as const,
  stats: ['stats'] as const,
  history: (spanS: number) => ['history', spanS] as const,
  system: ['system'] as const,
  /** null: the tenant of this session. */
  usage: (tenant: string | null) => ['usage', tenant] as const,
  search: (filter: SearchFilter) => ['search', filter] as const,
};
