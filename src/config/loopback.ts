import { isIP } from 'node:net';

/** Whether a host name or address is a loopback one. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  switch (isIP(name)) {
    case 4:
      return name.startsWith('127.');
    case 6:
      return name === '::1' || name.startsWith('::ffff:7f') || name.startsWith('::ffff:127.');
    default:
      return name === 'localhost' || name.endsWith('.localhost');
  }
}
