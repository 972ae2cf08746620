/** Form values of a role: fields for the common members, JSON for the rest. */
import type { Json, Role, RoleDefinition } from 'nightshift/client';

export type Draft = {
  model: string;
  systemPrompt: string;
  tools: readonly string[];
  servers: readonly string[];
  maxSteps: string;
  /** A JSON object, or empty. */
  rest: string;
};

export const NEW_ROLE: Draft = {
  model: '',
  systemPrompt: '',
  tools: [],
  servers: [],
  maxSteps: '',
  rest: '',
};

/** NOT_REST: members with their own field. ABOUT: members that are not part of the definition. */
const NOT_REST = ['model', 'system_prompt', 'tools', 'mcp_servers', 'max_steps'];
const ABOUT = ['name', 'version', 'source', 'created_at', 'updated_at'];

export function toDraft(role: Role): Draft {
  const rest = Object.entries(role).filter(([name]) => !NOT_REST.includes(name) && !ABOUT.includes(name));
  return {
    model: role.model ?? '',
    systemPrompt: role.system_prompt ?? '',
    tools: role.tools ?? [],
    servers: role.mcp_servers ?? [],
    maxSteps: role.max_steps === undefined ? '' : String(role.max_steps),
    rest: rest.length === 0 ? '' : JSON.stringify(Object.fromEntries(rest), null, 2),
  };
}

/** Null if `rest` is not a JSON object. The API validates everything else. */
export function toDefinition(draft: Draft): RoleDefinition | null {
  const rest = parseRest(draft.rest);
  if (rest === null) return null;
  const { model, systemPrompt, tools, servers, maxSteps } = draft;
  return {
    ...rest,
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(systemPrompt.trim() === '' ? {} : { system_prompt: systemPrompt }),
    ...(tools.length === 0 ? {} : { tools: [...tools] }),
    ...(servers.length === 0 ? {} : { mcp_servers: [...servers] }),
    ...(maxSteps.trim() === '' ? {} : { max_steps: Number(maxSteps) }),
  };
}

export function parseRest(text: string): { [key: string]: Json } | null {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
