/** What is written in the form of a tenant, and the requests that it becomes. Pure functions. */
import type { CreateTenant, PatchTenant, Tenant } from 'nightshift/client';
import { LIMIT_TEXTS, type LimitName } from '../../usage/limit-texts.ts';
import { ALLOWED_KINDS, type AllowedKind } from './brief.ts';
import { tenantsWords, usageWords } from '../../words.ts';

/** `names`: one in a line; kept while `isLimited` is false, which allows everything. */
type AllowedDraft = { isLimited: boolean; names: string };

/** `weight` and `limits` are numbers as text; empty: none. */
export type TenantDraft = {
  name: string;
  weight: string;
  limits: Readonly<Record<LimitName, string>>;
  allow: Readonly<Record<AllowedKind, AllowedDraft>>;
};

/** Null: of a new tenant. */
export function toDraft(tenant: Tenant | null): TenantDraft {
  const limitOf = (name: LimitName): string => String(tenant?.limits[name] ?? '');
  const allowedOf = (kind: AllowedKind): AllowedDraft => {
    const names = tenant?.allow[kind] ?? null;
    return { isLimited: names !== null, names: names?.join('\n') ?? '' };
  };
  return {
    name: tenant?.name ?? '',
    weight: String(tenant?.limits.weight ?? 1),
    limits: {
      workers: limitOf('workers'),
      stored_mb: limitOf('stored_mb'),
      queued_jobs: limitOf('queued_jobs'),
      slots: limitOf('slots'),
      streams: limitOf('streams'),
      concurrent_requests: limitOf('concurrent_requests'),
      requests_per_s: limitOf('requests_per_s'),
      upload_mb: limitOf('upload_mb'),
      sql_ms: limitOf('sql_ms'),
    },
    allow: {
      models: allowedOf('models'),
      tools: allowedOf('tools'),
      roles: allowedOf('roles'),
      mcp_servers: allowedOf('mcp_servers'),
    },
  };
}

/** The fields that are no numbers, by the names of the request. The API checks their range. */
export function faultsOf({ weight, limits }: TenantDraft): { [path: string]: string } {
  const ofLimits = LIMIT_TEXTS.filter(({ name }) => !/^\d*$/.test(limits[name].trim()));
  return {
    ...(!/^(?:\d+(?:\.\d*)?|\.\d+)?$/.test(weight.trim()) && { 'limits.weight': tenantsWords.form.weightFault }),
    ...Object.fromEntries(ofLimits.map(({ name }) => [`limits.${name}`, usageWords.wholeNumberFault])),
  };
}

/** Of a draft without faults. */
export function toCreate(draft: TenantDraft): CreateTenant {
  const { limits, allow } = settingsOf(draft);
  return { name: draft.name.trim(), limits, allow };
}

/** Only what is different, so that the change of another operator is not undone. Null: nothing is different. */
export function toPatch(tenant: Tenant, draft: TenantDraft): PatchTenant | null {
  const [before, after] = [settingsOf(toDraft(tenant)), settingsOf(draft)];
  const patch = {
    ...partOf('limits', changed(before.limits, after.limits)),
    ...partOf('allow', changed(before.allow, after.allow)),
  };
  return Object.keys(patch).length === 0 ? null : patch;
}

function settingsOf({ weight, limits, allow }: TenantDraft) {
  return {
    limits: {
      weight: numberIn(weight),
      ...Object.fromEntries(LIMIT_TEXTS.map(({ name }) => [name, numberIn(limits[name])])),
    },
    allow: Object.fromEntries(
      ALLOWED_KINDS.map(({ kind }) => [kind, allow[kind].isLimited ? namesIn(allow[kind].names) : null]),
    ),
  };
}

function changed<Values extends object>(before: Values, after: Values): Partial<Values> {
  const old = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]));
  const different = Object.entries(after).filter(([name, value]) => old.get(name) !== JSON.stringify(value));
  return Object.fromEntries(different) as Partial<Values>;
}

function partOf<Name extends string, Values extends object>(name: Name, values: Values): { [N in Name]?: Values } {
  const part: { [N in Name]?: Values } = {};
  if (Object.keys(values).length > 0) part[name] = values;
  return part;
}

function numberIn(text: string): number | null {
  return text.trim() === '' ? null : Number(text.trim());
}

function namesIn(text: string): string[] {
  const names = text.split('\n').map((line) => line.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}
