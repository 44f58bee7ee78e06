import { BlockList, isIPv4, isIPv6 } from 'node:net';

// The IANA special-purpose registry, multicast and reserved addresses, and one public address that a cloud provider uses
// internally.
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

// Ranges of global unicast addresses that are tunnels to IPv4 or not reachable on the Internet.
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const specialIpv4 = blockList(SPECIAL_IPV4, 'ipv4');
const specialIpv6 = blockList(SPECIAL_IPV6, 'ipv6');
// All other IPv6 addresses are local, mapped, translated, multicast or unassigned.
const globalIpv6 = blockList([['2000::', 3]], 'ipv6');
const loopbackIpv4 = blockList([['127.0.0.0', 8]], 'ipv4');

/** True for an address on the public Internet, given as text without brackets. An address with a zone is local. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
}

/** True for loopback addresses: `127.0.0.0/8` and `::1`. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopbackIpv4.check(address, 'ipv4');
  return isIPv6(address) && new URL(`http://[${address.split('%')[0]}]`).hostname === '[::1]';
}

function blockList(subnets: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
