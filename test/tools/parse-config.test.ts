import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { CONFIG_COMPONENTS } from '../../src/schema/config.ts';
import { NO_OIDC_SETTINGS } from '../../src/core/access/oidc.ts';
import { ConfigSchema, parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { AS_IT_IS } from '../../src/tools/packages/hide.ts';
import { faultyTool } from './faulty-tool.ts';

const tool = faultyTool({ name: 'read_page' });

function faultsOf(config: unknown): string[] {
  const parsed = parseConfigFile(config, PLACEHOLDERS);
  return parsed.ok ? [] : parsed.faults;
}

test('its schema is valid: no process validates it at the start', () => {
  const meta = new Ajv2020({ strict: false });
  for (const schema of [ConfigSchema, ...CONFIG_COMPONENTS]) {
    expect(meta.validateSchema(schema), JSON.stringify(meta.errors)).toBe(true);
  }
});

describe('a valid configuration', () => {
  test('gives tools, roles and limits', () => {
    const parsed = parseConfigFile(
      {
        tools: [
          { ...tool, effect: 'once', approval: 'never', on_unknown: 'tell', timeout_ms: 5 },
          { ...tool, name: 'zod', input_schema: undefined, input: z.object({ a: z.string() }) },
        ],
        roles: {
          coder: {
            system_prompt: 'You code.',
            model: 'openai-chat/some/model',
            streaming: false,
            mode: 'act',
            tools: ['read_page', 'zod'],
            max_steps: 5,
            max_tokens: 100,
            parameters: { temperature: 0.5 },
            idle_timeout_s: 60,
            approval: [{ tool: 'write_*', decision: 'always' }],
          },
          plain: {},
        },
        limits: {
          queued_inputs: 1,
          max_steps: 2,
          tool_result: 300,
          tool_timeout_ms: 4,
          approval_timeout_s: 5,
          answer_timeout_s: 6,
          retention: { archived_days: 30 },
        },
      },
      PLACEHOLDERS,
    );
    if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
    const { tools, roles, limits } = parsed.settings;
    expect(tools.map(({ descriptor, timeoutMs }) => [descriptor.name, descriptor.effect, timeoutMs])).toEqual([
      ['read_page', 'once', 5],
      ['zod', 'none', null],
    ]);
    expect([...roles]).toEqual([
      [
        'coder',
        {
          system_prompt: 'You code.',
          model: 'openai-chat/some/model',
          streaming: false,
          mode: 'act',
          tools: ['read_page', 'zod'],
          max_steps: 5,
          max_tokens: 100,
          parameters: { temperature: 0.5 },
          idle_timeout_s: 60,
          approval: [{ tool: 'write_*', decision: 'always' }],
        },
      ],
      ['plain', {}],
    ]);
    expect(limits).toEqual({
      queuedInputs: 1,
      maxSteps: 2,
      toolResult: 300,
      toolTimeoutMs: 4,
      archivedDays: 30,
      asking: { approvalMs: 5_000, onExpiry: 'deny', answerMs: 6_000 },
    });
  });

  test('may be empty, and may name the fields that it leaves out', () => {
    expect(parseConfigFile({}, PLACEHOLDERS)).toEqual({
      ok: true,
      settings: {
        tools: [],
        hide: AS_IT_IS,
        roles: new Map(),
        mcpServers: new Map(),
        limits: {},
        prices: new Map(),
        oidc: NO_OIDC_SETTINGS,
        outboxes: new Map(),
      },
    });
    expect(faultsOf({ tools: undefined, roles: undefined, limits: {}, mcp_servers: undefined })).toEqual([]);
    expect(faultsOf({ tools: [{ ...tool, timeout_ms: undefined, reconcile: undefined }] })).toEqual([]);
  });
});

describe('an invalid configuration', () => {
  test.each<[string, unknown, string]>([
    ['effect', 'maybe', 'tools[0].effect: must be none, idempotent or once, not "maybe".'],
    [
      'effect',
      undefined,
      'tools[0].effect: is missing: write none, idempotent or once, or transactional: true in its place.',
    ],
    ['name', 'read file', 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-", not "read file".'],
    ['name', 'x'.repeat(65), 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-".'],
    ['name', 'read_page\n', 'tools[0].name: must be 1 to 64 letters, digits, "_" or "-", not "read_page\\n".'],
    ['name', undefined, 'tools[0].name: is missing.'],
    ['description', ' ', 'tools[0].description: must be a non-empty string.'],
    ['timeout_ms', 0, 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647, not 0.'],
    ['timeout_ms', 2 ** 31, 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647, not 2147483648.'],
    ['timeout_ms', '5', 'tools[0].timeout_ms: must be a whole number from 1 to 2147483647, not "5".'],
    ['execute', 'rm -rf', 'tools[0].execute: must be a function, not "rm -rf".'],
    ['execute', undefined, 'tools[0].execute: is missing.'],
    ['input_schema', undefined, 'tools[0]: needs either input or input_schema.'],
    ['input', {}, 'tools[0]: has both input and input_schema; use only one.'],
    [
      'input_schema',
      { type: 'array' },
      'tools[0].input_schema.type: must be "object", because tools take named arguments.',
    ],
    ['approval', 'sometimes', 'tools[0].approval: must be never, always, deny or a function, not "sometimes".'],
    ['on_unknown', 'ask', "tools[0].on_unknown: is only for tools with effect 'once'."],
    ['on_unknown', 'guess', 'tools[0].on_unknown: must be tell or ask, not "guess".'],
    ['reconcile', () => null, "tools[0].reconcile: is only for tools with effect 'once'."],
    ['reconcile', 'yes', 'tools[0].reconcile: must be a function, not "yes".'],
    ['timeout', 5, expect.stringMatching(/^Unknown field `tools\[0\]\.timeout`\. Known fields: name, /)],
    ['a b', 5, expect.stringMatching(/^Unknown field `tools\[0\]\["a b"\]`\. Known fields: name, /)],
  ])('a tool whose %s is %s', (member, value, fault) => {
    expect(faultsOf({ tools: [{ ...tool, [member]: value }] })).toEqual([fault]);
  });

  test.each<[string, unknown, string]>([
    [
      'model',
      'claude',
      expect.stringMatching(
        /^roles\.r\.model: must be provider\/model, with one of the providers anthropic, .*, not "claude"\.$/,
      ),
    ],
    ['model', 'acme/x', expect.stringMatching(/^roles\.r\.model: must be provider\/model.* not "acme\/x"\.$/)],
    ['system_prompt', 5, 'roles.r.system_prompt: must be a string of at most 1000000 characters, not a number.'],
    ['streaming', 'yes', 'roles.r.streaming: must be true or false, not "yes".'],
    ['tools', 'read_page', 'roles.r.tools: must be a list of at most 1000 entries, not a string.'],
    [
      'tools',
      ['read_page', 'rm'],
      expect.stringMatching(/^roles\.r\.tools\[1\]: no tool has the name "rm"\. Known tools: ask_user, .*read_page/),
    ],
    ['tools', ['a b'], expect.stringMatching(/^roles\.r\.tools\[0\]: no tool has the name "a b"\. Known tools: /)],
    ['max_steps', 0, 'roles.r.max_steps: must be a whole number from 1 to 1000000000, not 0.'],
    ['max_tokens', 1.5, 'roles.r.max_tokens: must be a whole number from 1 to 1000000000, not 1.5.'],
    ['idle_timeout_s', 0, 'roles.r.idle_timeout_s: must be a whole number from 1 to 315360000, not 0.'],
    ['parameters', [], 'roles.r.parameters: must be an object, not a list.'],
    ['parameters', { n: 2 }, 'roles.r.parameters.n: is a reserved name and cannot be set here.'],
    ['mode', 'think', 'roles.r.mode: must be act or plan, not "think".'],
    [
      'client_tools',
      [{ name: 'a', input_schema: { type: 'object' } }],
      'roles.r.client_tools[0].description: is missing.',
    ],
    [
      'client_tools',
      [{ name: 'read_page', description: 'd', input_schema: { type: 'object' } }],
      'roles.r.client_tools[0].name: read_page is the name of a tool that worker processes run. Use another name.',
    ],
    [
      'client_tools',
      [{ name: 'here', description: 'd', input_schema: { type: 'string' } }],
      'roles.r.client_tools[0].input_schema.type: must be "object", not "string".',
    ],
    ['mcp_servers', ['x'], 'roles.r.mcp_servers[0]: no MCP server has the name "x". Known servers: none.'],
    ['compaction', { type: 'zip' }, 'roles.r.compaction.type: must be threshold, llm or none, not "zip".'],
    [
      'compaction',
      { threshold: 0 },
      'roles.r.compaction.threshold: must be a number greater than 0 and at most 1, not 0.',
    ],
    [
      'compaction',
      { keep_turns: 0.5 },
      'roles.r.compaction.keep_turns: must be a whole number from 0 to 1000, not 0.5.',
    ],
    ['context_limit', 5, 'roles.r.context_limit: must be a whole number from 1000 to 1000000000, not 5.'],
    ['pinned', [{ title: 'a' }], 'roles.r.pinned[0].text: is missing.'],
    [
      'pinned',
      Array.from({ length: 21 }, () => ({ title: 'a', text: 'b' })),
      'roles.r.pinned: must be a list of at most 20 entries, not 21.',
    ],
    ['approval', 'always', 'roles.r.approval: must be a list of at most 1000 entries, not a string.'],
    ['approval', [{ tool: 'a' }], 'roles.r.approval[0].decision: is missing.'],
    [
      'approval',
      [{ tool: 'a b', decision: 'deny' }],
      'roles.r.approval[0].tool: must be the name of a tool or a glob, of letters, digits, "_", "-" and "*", not "a b".',
    ],
    [
      'approval',
      [{ tool: '*', decision: 'ask' }],
      'roles.r.approval[0].decision: must be never, always or deny, not "ask".',
    ],
    ['prompt', 'x', expect.stringMatching(/^Unknown field `roles\.r\.prompt`\. Known fields: model, /)],
  ])('a role whose %s is %j', (member, value, fault) => {
    expect(faultsOf({ tools: [tool], roles: { r: { [member]: value } } })).toEqual([fault]);
  });

  test('reserved parameters are reported one by one, and what JSON cannot hold is refused', () => {
    expect(faultsOf({ roles: { r: { parameters: { n: 2, stream: true } } } })).toEqual([
      'roles.r.parameters.n: is a reserved name and cannot be set here.',
      'roles.r.parameters.stream: is a reserved name and cannot be set here.',
    ]);
    const itself: Record<string, unknown> = {};
    itself['again'] = itself;
    for (const parameters of [{ a: 1n }, itself])
      expect(faultsOf({ roles: { r: { parameters } } })).toEqual(['roles.r.parameters: must be a plain JSON object.']);
  });

  test('a value of a wrong type is not repeated where a secret may be meant', () => {
    const servers = {
      a: { command: 'a', args: '--token=s3cret', env: { PIN: 123456, ON: true } },
      b: { url: 'http://b', headers: 'Bearer s3cret' },
      c: { url: 'http://b', headers: { 'x-key': 987654 } },
    };
    const faults = faultsOf({ mcp_servers: servers, limits: { run_command: { env: 'TOKEN=s3cret' } } });
    expect(faults).toEqual([
      'mcp_servers.a.args: must be a list, not a string.',
      'mcp_servers.a.env.PIN: must be a string, not a number.',
      'mcp_servers.a.env.ON: must be a string, not true or false.',
      'mcp_servers.b.headers: must be an object, not a string.',
      'mcp_servers.c.headers.x-key: must be a string, not a number.',
      'limits.run_command.env: must be an object, not a string.',
    ]);
  });

  test('only schemas and parameters are left unread: a server or a variable may have their names', () => {
    const servers = { input: { command: 'x', url: undefined, env: { input: 'a', parameters: 'b' } } };
    const roles = { parameters: { model: 'simulated/a', parameters: { model: undefined, temperature: 1 } } };
    expect(faultsOf({ mcp_servers: servers, roles })).toEqual([]);
    expect(faultsOf({ roles: { input: { modle: 'simulated/a' } } })[0]).toMatch(/^Unknown field `roles.input.modle`/);
  });

  test('a value that may be a secret is not repeated', () => {
    const servers = { s: { url: 'ftp://u:secret@h' }, t: { command: 'a', env: { KEY: 'secret\0' } } };
    expect(faultsOf({ mcp_servers: servers, limits: { run_command: { env: { KEY: 'secret\0' } } } })).toEqual([
      'mcp_servers.s.url: must be an http or https URL, without a user name.',
      'limits.run_command.env.KEY: must be a string without a NUL character.',
    ]);
  });

  test('more faults than a person reads are counted', () => {
    const roles = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`r${at}`, { max_steps: at - 40 }]));
    const faults = faultsOf({ roles, limits: 3 });
    expect(faults).toHaveLength(21);
    expect(faults[0]).toBe('roles.r0.max_steps: must be a whole number from 1 to 1000000000, not -40.');
    expect(faults.at(-1)).toBe('And 11 more.');
  });

  test('a config that contains itself is refused', () => {
    const config: Record<string, unknown> = {};
    config['roles'] = { r: config };
    expect(faultsOf(config)[0]).toMatch(/^Unknown field `roles\.r\.roles`/);
  });

  test.each<[string, unknown, string[]]>([
    ['no object', null, ['The configuration must be an object, not null.']],
    ['a list', [], ['The configuration must be an object, not a list.']],
    ['a promise', Promise.resolve({}), ['The configuration must be an object, not a Promise.']],
    ['tools by name', { tools: { a: tool } }, ['tools: must be a list, not an object.']],
    [
      'no tool',
      { tools: [null, 'x'] },
      ['tools[0]: must be an object, not null.', 'tools[1]: must be an object, not a string.'],
    ],
    ['a hole', { tools: [undefined, tool] }, ['tools[0]: is missing.']],
    ['two of a name', { tools: [tool, tool] }, ['tools[1].name: another tool has the name read_page.']],
    [
      'one of a built-in name',
      { tools: [{ ...tool, name: 'ask_user' }] },
      ['tools[0].name: another tool has the name ask_user.'],
    ],
    ['roles in a list', { roles: [] }, ['roles: must be an object, not a list.']],
    ['a role of no content', { roles: { r: undefined } }, ['roles.r: must be an object, not undefined.']],
    [
      'headers from a variable that is not set',
      { mcp_servers: { s: { url: 'https://a.example', headers: { authorization: undefined } } } },
      ['mcp_servers.s.headers.authorization: must be a string, not undefined.'],
    ],
    [
      'an environment from a variable that is not set',
      { limits: { run_command: { env: { TOKEN: undefined } } } },
      ['limits.run_command.env.TOKEN: must be a string without a NUL character, not undefined.'],
    ],
    [
      'a URL with a password in place of a host',
      { limits: { http_fetch: { allow: ['https://me:secret@a.example'] } } },
      ['limits.http_fetch.allow[0]: must be a host name, an address, or a network such as 10.0.0.0/8.'],
    ],
    [
      'a tool of a server with an impossible name',
      { mcp_servers: { s: { command: 'true' } }, roles: { r: { tools: ['s__a b', 's__a'] } } },
      [expect.stringMatching(/^roles\.r\.tools\[0\]: no tool has the name "s__a b"\. Known tools: /)],
    ],
    ['roles in a map', { roles: new Map() }, ['roles: must be an object, not a Map.']],
    [
      'a role of no name',
      { roles: { 'a b': {} } },
      ['roles["a b"]: the name must be 1 to 64 letters, digits, "_" or "-".'],
    ],
    ['no role', { roles: { r: 'x' } }, ['roles.r: must be an object, not a string.']],
    [
      'a tool where there is none',
      { roles: { r: { tools: ['x'] } } },
      [expect.stringMatching(/^roles\.r\.tools\[0\]: no tool has the name "x"\. Known tools: ask_user, /)],
    ],
    [
      'a limit out of range',
      { limits: { tool_result: 0 } },
      ['limits.tool_result: must be a whole number from 100 to 10000000, not 0.'],
    ],
    [
      'a retention of nothing',
      { limits: { retention: { archived_days: 0, deleted_days: 3 } } },
      [
        'Unknown field `limits.retention.deleted_days`. Known fields: archived_days.',
        'limits.retention.archived_days: must be a whole number from 1 to 36500, not 0.',
      ],
    ],
    [
      'an unknown limit',
      { limits: { failed_claims: 3 } },
      [expect.stringContaining('Unknown field `limits.failed_claims`. Known fields: queued_inputs, max_steps')],
    ],
    [
      'a grant of a role that does not exist, and a misspelt one',
      {
        oidc: {
          grants: [
            { group: 'g', tenant: 'a b', role: 'operator' },
            { group: 'g', tenant: 't' },
          ],
        },
      },
      [
        expect.stringContaining('oidc.grants[0].tenant: must be a string that matches'),
        'oidc.grants[0].role: must be viewer, member or admin, not "operator".',
        expect.stringContaining('oidc.grants[1]'),
      ],
    ],
    [
      'an outbox without a URL of PostgreSQL, which is not repeated, and without tenants',
      {
        outboxes: {
          shop: { url: 'https://user:hidden@host/db', schema: 'public', tenants: [] },
          away: { tenants: ['a b'] },
        },
      },
      [
        'outboxes.shop.url: must be the URL of a PostgreSQL database, such as postgres://host/database.',
        'outboxes.shop.schema: must be a PostgreSQL schema other than public: lower-case letters, digits and underscores, not starting with pg_, not "public".',
        'outboxes.shop.tenants: must be a list of 1 to 10000 entries, not 0.',
        'outboxes.away.url: is missing.',
        'outboxes.away.tenants[0]: must be a string that matches the pattern ^[A-Za-z0-9_.-]{1,64}$.',
      ],
    ],
    [
      'another way to send the client secret',
      { oidc: { client_auth: 'client_secret_post' } },
      ['oidc.client_auth: must be post or basic, not "client_secret_post".'],
    ],
    [
      'an unknown member',
      { tool: [] },
      ['Unknown field `tool`. Known fields: tools, roles, mcp_servers, limits, prices, oidc, outboxes.'],
    ],
  ])('%s', (_, config, faults) => {
    expect(faultsOf(config)).toEqual(faults);
  });

  test('may say who signs in', () => {
    const grants = [{ group: 'g', tenant: 't', role: 'viewer' }];
    const parsed = parseConfigFile(
      {
        oidc: { grants, groups_claim: 'https://a.example/groups', scopes: ['groups'], client_auth: 'basic' },
      },
      PLACEHOLDERS,
    );
    expect(parsed.ok ? parsed.settings.oidc : parsed.faults).toEqual({
      grants,
      groupsClaim: 'https://a.example/groups',
      scopes: ['groups'],
      clientAuth: 'basic',
      name: null,
    });
  });

  test('reports all its faults at once, and a broken tool not again by its roles', () => {
    expect(
      faultsOf({
        tools: [{ ...tool, effect: 'x', execute: 1 }],
        roles: { r: { tools: ['read_page'], model: 'x' } },
        limits: 3,
      }),
    ).toEqual([
      'tools[0].effect: must be none, idempotent or once, not "x".',
      'tools[0].execute: must be a function, not 1.',
      expect.stringContaining('roles.r.model'),
      'limits: must be an object, not a number.',
    ]);
  });
});

describe('limits of built-in tools', () => {
  const limitsOf = (limits: object) => parseConfigFile({ limits }, PLACEHOLDERS);

  test('apply beside the defaults', () => {
    const parsed = limitsOf({
      http_fetch: { allow: ['wiki.intranet', '10.0.0.0/8', '::1'], redirects: 0 },
      files: { file_bytes: 5 },
      run_command: {
        runner: 'container',
        image: 'debian:bookworm-slim',
        allow: ['git', 'npm*'],
        env: { CI: '1' },
      },
    });
    expect(parsed).toMatchObject({
      ok: true,
      settings: {
        limits: {
          httpFetch: { allow: ['wiki.intranet', '10.0.0.0/8', '::1'], redirects: 0, timeoutMs: 30_000 },
          files: { fileBytes: 5, entries: 10_000 },
          runCommand: { runner: 'container', image: 'debian:bookworm-slim', timeoutS: 600, memoryMb: 512 },
        },
      },
    });
    expect(limitsOf({ run_command: {} })).toMatchObject({
      settings: {
        limits: { runCommand: { runner: 'container', image: 'debian:bookworm-slim', allow: null } },
      },
    });
  });

  test.each<[object, string]>([
    [{ http_fetch: { allow: ['http://x'] } }, 'limits.http_fetch.allow[0]: must be a host name'],
    [{ http_fetch: { allow: ['10.0.0.0/33'] } }, 'limits.http_fetch.allow[0]: must be a host name'],
    [{ http_fetch: { allow: ['10.0.0'] } }, 'limits.http_fetch.allow[0]: must be a host name'],
    [{ http_fetch: { allow: '*' } }, 'limits.http_fetch.allow: must be a list'],
    [{ http_fetch: { timeout: 5 } }, 'Unknown field `limits.http_fetch.timeout`. Known fields: approval, allow, '],
    [{ http_fetch: { redirects: -1 } }, 'limits.http_fetch.redirects: must be a whole number'],
    [{ files: { total_bytes: 0 } }, 'limits.files.total_bytes: must be a whole number'],
    [{ run_command: { runner: 'vm' } }, 'limits.run_command.runner: must be container'],
    [
      { run_command: { runner: 'process', image: 'debian' } },
      "limits.run_command.image: is only for runner: 'container'",
    ],
    [{ run_command: { tenants: ['a'] } }, "limits.run_command.tenants: is only for runner: 'process'"],
    [{ run_command: { read_only: ['/opt'] } }, "limits.run_command.read_only: is only for runner: 'bubblewrap'"],
    [
      { run_command: { runner: 'bubblewrap', read_only: ['opt'] } },
      'limits.run_command.read_only[0]: must be an absolute path',
    ],
    [{ run_command: { runner: 'container', image: '--privileged' } }, 'limits.run_command.image: must be the name'],
    [{ run_command: { allow: [''] } }, 'limits.run_command.allow[0]: must be a non-empty string'],
    [
      { run_command: { env: { 'A B': 'x' } } },
      'limits.run_command.env["A B"]: the name must be a valid name of an environment variable',
    ],
    [{ run_command: { env: { A: 5 } } }, 'limits.run_command.env.A: must be a string'],
  ])('%j is a fault', (limits, fault) => {
    expect(limitsOf(limits)).toEqual({ ok: false, faults: [expect.stringContaining(fault)] });
  });
});
