/**
 * Tool names in requests. Models invent names that providers refuse, and history keeps them as the model wrote them.
 */
export function wireName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
