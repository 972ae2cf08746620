/**
 * Decides which hosts a request may reach. A name is resolved once, all its addresses are checked, and the connection
 * uses exactly those addresses, so a second DNS answer (DNS rebinding) has no effect.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { codeOf } from '../../run/fault.ts';
import { ToolFault } from '../../run/tool-fault.ts';
import { isIn, isOwnName, isPublic, networks, parseCidr } from './addresses.ts';

export type Address = { address: string; family: number };

/** Resolves a name to addresses with the resolver of the system. */
export type Resolve = (name: string) => Promise<Address[]>;

export const systemResolve: Resolve = (name) => lookup(name, { all: true });

export type Gatekeeper = {
  /** The addresses that may be connected to. Throws `ToolFault`. */
  admit(hostname: string): Promise<Address[]>;
  /** Whether the address may be connected to for this host name. */
  mayReach(hostname: string, address: string): boolean;
};

export function createGatekeeper(allow: readonly string[], resolve: Resolve): Gatekeeper {
  const cidrs = allow.map(parseCidr);
  const allowed = networks(cidrs);
  const names = new Set(allow.filter((_, at) => cidrs[at] === null).map((name) => name.toLowerCase()));
  const mayReach = (hostname: string, address: string): boolean =>
    names.has(hostname) || isIn(allowed, address) || isPublic(address);
  return {
    mayReach,
    async admit(hostname) {
      const host = bare(hostname);
      if (isOwnName(host) && !names.has(host))
        throw forbidden(host, 'is a name of the worker host or of a metadata service');
      const addresses = await addressesOf(host, resolve);
      const wrong = addresses.find(({ address }) => !mayReach(host, address));
      if (wrong !== undefined) {
        throw forbidden(host, isIP(host) === 0 ? `resolves to ${wrong.address}, which is not public` : 'is not public');
      }
      return addresses;
    },
  };
}

/** Removes the brackets of IPv6 addresses. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

async function addressesOf(host: string, resolve: Resolve): Promise<Address[]> {
  const version = isIP(host);
  if (version !== 0) return [{ address: host, family: version }];
  const found = await resolve(host).catch((error: unknown) => {
    throw new ToolFault('host_not_found', `The host ${host} cannot be resolved (${codeOf(error) ?? 'unknown error'}).`);
  });
  if (found.length === 0) throw new ToolFault('host_not_found', `The host ${host} has no IP address.`);
  return found;
}

function forbidden(host: string, why: string): ToolFault {
  return new ToolFault('address_forbidden', `Requests to the host ${host} are forbidden: it ${why}.`);
}
