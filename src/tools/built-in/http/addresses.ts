/**
 * Public addresses: no private networks, no loopback, no metadata services, following the special-purpose registries of
 * IANA. For IPv6 only global unicast counts, without the ranges that embed IPv4 addresses.
 */
import { BlockList, isIP } from 'node:net';

const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Link-local; the metadata service of most clouds.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The metadata service of Azure.
  '168.63.129.16/32',
];

const GLOBAL_UNICAST = '2000::/3';
/** Exceptions within it: Teredo and other protocols, documentation, 6to4, and AS112. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** Names of this machine or of a metadata service, regardless of their addresses. */
const OWN_NAMES = ['localhost', 'metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data'];

type Cidr = { address: string; prefix: number; family: 'ipv4' | 'ipv6' };

/** Null: neither an address nor a network. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes('%')) return null;
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return prefix <= most ? { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' } : null;
}

export function networks(cidrs: readonly (Cidr | null)[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) if (cidr !== null) list.addSubnet(cidr.address, cidr.prefix, cidr.family);
  return list;
}

const specialIpv4 = networks(SPECIAL_IPV4.map(parseCidr));
const specialIpv6 = networks(SPECIAL_IPV6.map(parseCidr));
const globalUnicast = networks([parseCidr(GLOBAL_UNICAST)]);

/** False for text that is not an IP address. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4');
    case 6:
      return globalUnicast.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

export function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** `name`: lower case, as in a URL. */
export function isOwnName(name: string): boolean {
  const bare = name.replace(/\.+$/, '');
  return OWN_NAMES.includes(bare) || bare.endsWith('.localhost');
}
