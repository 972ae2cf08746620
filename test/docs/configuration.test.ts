// docs/configuration.md lists the keys of the config file. The lists here are typed: a new key does not compile before it is
// named, and the page must then have it.
import { expect, test } from 'vitest';
import type {
  ClientToolDefinition,
  McpCommandDefinition,
  McpUrlDefinition,
  OperatorConfig,
  PriceDefinition,
  RoleDefinition,
  ToolDefinition,
} from '../../src/tools/config/define.ts';
import type {
  FilesDefinition,
  HttpFetchDefinition,
  LimitDefinitions,
  RunCommandDefinition,
} from '../../src/tools/config/define-limits.ts';
import { codes, rowsOf, section } from './markdown.ts';

const PAGE = 'docs/configuration.md';

/** Every key of a type, and no other. */
type Keys<T> = Record<T extends unknown ? keyof T : never, true>;

const FILE: Keys<OperatorConfig> = {
  tools: true,
  roles: true,
  mcp_servers: true,
  limits: true,
  prices: true,
};

const TOOL: Keys<ToolDefinition> = {
  name: true,
  description: true,
  input: true,
  input_schema: true,
  effect: true,
  approval: true,
  on_unknown: true,
  timeout_ms: true,
  execute: true,
  reconcile: true,
};

const ROLE: Keys<RoleDefinition> = {
  system_prompt: true,
  model: true,
  streaming: true,
  mode: true,
  tools: true,
  client_tools: true,
  mcp_servers: true,
  approval: true,
  max_steps: true,
  max_tokens: true,
  context_limit: true,
  compaction: true,
  pinned: true,
  parameters: true,
  idle_timeout_s: true,
  limits: true,
};

const SERVER: Keys<McpCommandDefinition | McpUrlDefinition> = {
  command: true,
  args: true,
  env: true,
  cwd: true,
  url: true,
  headers: true,
  tools: true,
  approval: true,
  elicitation: true,
  start_timeout_ms: true,
  timeout_ms: true,
  max_timeout_ms: true,
};

const LIMITS: Keys<LimitDefinitions> = {
  queued_inputs: true,
  max_steps: true,
  tool_result: true,
  tool_timeout_ms: true,
  approval_timeout_s: true,
  approval_default: true,
  answer_timeout_s: true,
  outcome_timeout_s: true,
  depth: true,
  children: true,
  workers: true,
  tenant_workers: true,
  hops: true,
  messages_per_minute: true,
  parameters: true,
  retention: true,
  http_fetch: true,
  files: true,
  run_command: true,
};

const HTTP_FETCH: Keys<HttpFetchDefinition> = {
  allow: true,
  timeout_ms: true,
  body_bytes: true,
  download_bytes: true,
  redirects: true,
};

const FILES: Keys<FilesDefinition> = { file_bytes: true, total_bytes: true, entries: true };

const RUN_COMMAND: Keys<RunCommandDefinition> = {
  runner: true,
  image: true,
  read_only: true,
  tenants: true,
  allow: true,
  timeout_s: true,
  output_bytes: true,
  env: true,
  memory_mb: true,
  processes: true,
};

const PRICE: Keys<PriceDefinition> = { input: true, output: true, cache_read: true, cache_write: true };

test.each([
  ['Keys', FILE],
  ['`tools`', TOOL],
  ['`roles`', ROLE],
  ['`mcp_servers`', SERVER],
  ['`limits.http_fetch`', HTTP_FETCH],
  ['`limits.files`', FILES],
  ['`limits.run_command`', RUN_COMMAND],
  ['`prices`', PRICE],
])('the page lists the keys of: %s', (heading, keys) => {
  expect(keysUnder(section(PAGE, heading))).toEqual(Object.keys(keys));
});

test('the page lists the keys of: `limits`', () => {
  const [own = ''] = section(PAGE, '`limits`').split('\n### ');
  expect(keysUnder(own)).toEqual(Object.keys(LIMITS));
});

test('the page names the fields of a client-side tool', () => {
  const fields: Keys<ClientToolDefinition> = { name: true, description: true, input_schema: true };
  expect(section(PAGE, '`roles`')).toContain(`{${Object.keys(fields).join(', ')}}`);
});

function keysUnder(text: string): string[] {
  return rowsOf(text).flatMap(([key]) => codes(key));
}
