/** Tool names on the wire. Models invent names that no provider takes back, and history holds what they said. */
export function wireName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
