/** Texts of the page Settings, except for its tools, its MCP servers and its webhooks. */
import type { ModelPrice, SystemLimits } from 'nightshift/client';
import { count } from '../count.ts';

const limits: Readonly<Record<keyof SystemLimits, string>> = {
  queued_inputs: 'Queued inputs per context',
  max_steps: 'Model calls per job',
  tool_result: 'Characters per tool result',
  tool_timeout_ms: 'Timeout of a tool call',
  depth: 'Depth of a worker tree',
  children: 'Children per worker',
  workers: 'Active workers per tree',
  tenant_workers: 'Active workers per tenant',
  hops: 'Hops of a message between workers',
  messages_per_minute: 'Messages per minute from one worker to others',
  archived_days: 'Retention of archived contexts in days',
  import_bytes: 'Import size',
  streams: 'Open streams per API process',
};

const prices: Readonly<Record<Exclude<keyof ModelPrice, 'model'>, string>> = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cache read',
  cache_write: 'Cache write',
};

export const settingsWords = {
  tabs: {
    roles: 'Roles',
    tools: 'Tools',
    servers: 'MCP servers',
    providers: 'Providers',
    webhooks: 'Webhooks',
    usage: 'Usage',
    limits: 'Limits',
    browser: 'This browser',
  },

  roles: {
    about: 'A role is a template for workers. A worker keeps the role version it was created from.',
    new: 'New role',
    empty: 'No roles yet',
    emptyAbout: 'A role combines a model, a system prompt and tools. Create workers from it.',
    ofFile: 'config file',
    version: (version: number) => `version ${version}`,
    show: 'Show',
    role: (name: string) => `role ${name}`,
    defaultModel: 'default model',
    tools: (tools: number) => count(tools, 'tool', 'tools'),
  },
  role: {
    titleOfFile: (name: string) => `Role ${name}`,
    edit: (name: string) => `Edit role ${name}`,
    ofFile:
      'Defined in nightshift.config.ts, and can be changed only there. It has no versions: worker processes run it as their own file defines it.',
    unknown: 'The API process does not have this role in its own config file, so its settings are not known here.',
    greyed: 'Greyed values are defaults. Override a value to set it for this role.',
    defaults: 'Empty fields use the defaults.',
    default: 'Default',
    anyModel: 'provider/model',
    nameHint: 'Letters, digits, - and _.',
    nameFault: 'Use only letters, digits, - and _, at most 64 characters.',
    saved: (name: string, version: number) => `Role ${name} saved as version ${version}`,
  },
  roleConflict: {
    ofFile: 'The config file defines a role with this name.',
    changed: (version: number) => `The role was changed by someone else. Its current version is ${version}.`,
    show: 'Show theirs',
    overwrite: 'Overwrite with mine',
  },
  versions: {
    open: 'Versions',
    title: (name: string) => `Versions of role ${name}`,
    about: 'Each change of a role makes a version. A worker keeps the version that it was created from.',
    none: 'No versions',
    list: 'Versions',
    version: (version: number) => `Version ${version}`,
    current: 'current',
    deleted: 'role deleted',
    compare: 'Compare',
    compareVersion: (version: number) => `Compare version ${version}`,
    restore: 'Restore',
    restoreThis: 'Restore this version',
    restoreVersion: (version: number) => `Restore version ${version}`,
    restoreTitle: (version: number) => `Restore version ${version}?`,
    restoreAbout: (name: string) =>
      `Its settings become a new version of role ${name}, which new workers get. Existing workers keep their version.`,
    restored: (name: string, old: number, made: number) => `Version ${old} of role ${name} restored as version ${made}`,
    differences: 'Differences',
    from: 'From',
    to: 'To',
    nothing: 'No version',
    same: 'Both versions have the same settings.',
    /** `side`: of the comparison, where the field has no text. */
    side: (side: string, isSet: boolean) => `${side}: ${isSet ? 'empty' : 'not set'}`,
    ofField: (field: string) => `Differences in ${field}`,
  },
  deleteRole: {
    title: (name: string) => `Delete role ${name}?`,
    about: 'Existing workers keep their settings. New workers cannot use the role.',
    done: (name: string) => `Role ${name} deleted`,
  },

  providers: {
    about: 'Default model: {model}. Provider keys are set in the environment of the processes and are never shown.',
    provider: 'Provider',
    state: 'State',
    lastSuccess: 'Last success',
    lastFailure: 'Last failure',
    /** `reason`: the code of the failure, as words. */
    throttle: '{model}: {reason}, next call {when}',
    lift: 'End throttle',
    liftOf: (model: string) => `End throttle of ${model}`,
    lifted: (model: string) => `Jobs that wait for ${model} go on gradually`,
    liftFailed: (model: string) => `Could not end the throttle of ${model}`,
    states: {
      noKey: 'No key set',
      throttled: 'Throttled',
      failing: 'Failing',
      available: 'Available',
      unused: 'Not used yet',
    },
  },
  prices: {
    title: 'Prices',
    none: 'No model has a price, so the cost of calls is unknown. Set prices in the config file.',
    about: 'Prices per million tokens, set in the config file. The cost of other models is unknown.',
    model: 'Model',
    kinds: prices,
  },

  usage: {
    about:
      'What this tenant uses of its limits. Requests beyond a limit are refused with the code {code}; contexts beyond the slots wait. The operator of this installation sets limits.',
    none: 'This tenant has no limits',
    noneAbout:
      'It may use all that the installation has, and no request is refused because of what it uses. The operator of this installation can set limits, for this tenant or for all.',
  },
  limits: {
    about:
      'These limits of the installation are set in the config file and in the environment of the processes. The limits of a tenant are shown under Usage.',
    version: 'Version',
    mode: 'Mode',
    oneProcess: 'API and worker in one process',
    separate: 'separate API and worker processes',
    names: limits,
    none: 'no limit',
  },
  browser: {
    keyboard: 'Keyboard',
    shortcuts: 'Show all shortcuts',
    session: 'Session',
    operator: 'Signed in as the operator, with the admin key.',
    withKey: 'Signed in to the tenant {tenant} with an API key.',
    asUser: 'Signed in to the tenant {tenant} as {user}.',
    noKeys: 'There are no API keys, so no sign-in is needed.',
    signOut: 'Sign out of this browser',
  },
} as const;
