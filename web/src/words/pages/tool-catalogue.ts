/** Texts of the tools on the page Settings: the catalogue, a tool and its use. */
import type { Tool, ToolUse } from 'nightshift/client';
import { count } from '../count.ts';

const sources: Readonly<Record<Tool['source'], string>> = {
  own: 'Config file',
  built_in: 'Built in',
  mcp: 'MCP server',
  elsewhere: 'Another process',
  sent: 'Not served',
};
const sourcesAbout = {
  own: 'Defined in nightshift.config.ts.',
  built_in: 'Part of Nightshift.',
  mcp: 'A tool of the MCP server {server}.',
  elsewhere: 'A worker process serves it, and this API process does not have it in its own config file.',
  sent: 'It was offered to models of this tenant, or used, and no process serves it: a tool that clients run, or one that no longer exists.',
} as const satisfies Record<Tool['source'], string>;
const approvals: Readonly<Record<NonNullable<Tool['approval']>, string>> = {
  never: 'runs without approval',
  always: 'needs approval',
  deny: 'denied',
  by_call: 'approval depends on the call',
};
const effects: Readonly<Record<NonNullable<Tool['effect']>, string>> = {
  none: 'no effects',
  idempotent: 'idempotent',
  once: 'runs once',
};
const effectsAbout: Readonly<Record<NonNullable<Tool['effect']>, string>> = {
  none: 'No effects: a call may be repeated at any time.',
  idempotent: 'Idempotent: a call is repeated with the same idempotency key.',
  once: 'Runs once: a call whose outcome is unknown is never repeated.',
};
const answeredBy: Readonly<Record<NonNullable<Tool['answered_by']>, string>> = {
  tool: 'The tool runs in a worker process',
  person: 'A person answers',
  client: 'A client runs it',
  workers: 'Other workers',
  timer: 'A time',
};
type Ended = Extract<keyof ToolUse, 'completed' | 'failed' | 'denied' | 'expired' | 'unknown'>;
const ended: Readonly<Record<Ended, string>> = {
  completed: 'Completed',
  failed: 'Failed',
  denied: 'Denied',
  expired: 'Not answered in time',
  unknown: 'Outcome unknown',
};

export const toolCatalogueWords = {
  find: 'Find a tool',
  none: 'No matching tools',
  range: 'Range of the use',
  ranges: { '24': '24 hours', '168': '7 days' },
  /** `tools`: of how many. */
  about: (tools: number) => `${count(tools, 'tool', 'tools')}. Select one for its schema, its use and its errors.`,
  aboutUse:
    'Worker processes count calls as they end and store the figures once a minute, by hour. What a process had not stored when it was killed is missing; calls that were cancelled with their job are not counted.',
  since: 'Since {from}.',
  noScope: 'Use is shown to sessions with the scope read.',
  sources,
  sourcesAbout,
  approvals,
  effects,
  effectsAbout,
  answeredBy,
  unsupported: 'no worker process has it',
  list: 'Tools',
  columns: {
    name: 'Tool',
    kind: 'Kind',
    about: 'Description',
    calls: 'Calls',
    failed: 'Failed',
    duration: 'p50 / p95',
    last: 'Last used',
  },
  nothing: '–',
  open: (name: string) => `Show the tool ${name}`,
  quantiles: (p50: string, p95: string) => `${p50} / ${p95}`,
  tool: {
    facts: 'Facts of the tool',
    kind: 'Kind',
    effect: 'Effect',
    approval: 'Approval',
    approvalAbout: '{approval}; rules of configs and roles may be stricter',
    answeredBy: 'Result from',
    timeout: 'Timeout',
    processes: 'Worker processes',
    processesOf: (number: number) => (number === 0 ? 'none has it' : `${number} have it`),
    roles: 'Roles with it',
    noRoles: 'none',
    unknown: 'unknown to this API process',
    input: 'Input',
    output: 'Output',
    outputAbout: 'Text or content blocks. Tools declare no schema of their results.',
    noSchema:
      'The schema of its input is not known here. Tools of clients have theirs in the config of their worker; those of other processes are known once a model of this tenant was offered them.',
    noFields: 'It takes no arguments.',
    required: 'required',
    anyType: 'any',
    arrayOf: (type: string) => `array of ${type}`,
    allowed: 'Allowed: {values}',
    default: 'Default: {value}',
    /** `key`: a keyword of JSON Schema. */
    limit: (key: string, value: string) => `${key} ${value}`,
    raw: 'JSON schema',
    use: 'Use and errors',
    unused: 'No calls ended in this range.',
    calls: 'Calls',
    ended,
    codes: 'Failed calls by code',
    duration: 'Duration of the call',
    durationAbout: 'p50 {p50}, p95 {p95}, without waits for a person',
    last: 'Last used',
    failures: 'Last failures',
    timeline: 'Timeline of its job',
  },
} as const;
