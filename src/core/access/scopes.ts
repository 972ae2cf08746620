/** What a caller may do within its tenant. */
export const SCOPES = ['read', 'run', 'configure', 'approve', 'keys'] as const;
export type Scope = (typeof SCOPES)[number];
export type Scopes = ReadonlySet<Scope>;

export const ALL_SCOPES: Scopes = new Set(SCOPES);

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
