/** Opens the peers that are asked for, in Node. */
import type { Peer, PeerGpu } from '../../src/bench/peer.ts';
import { type BenchResult, blankResult } from '../../src/bench/record.ts';
import { GemmError } from '../../src/errors.ts';
import { PEERS } from './index.ts';
import { makeRoomForPeers } from './node.ts';

/**
 * @param names with commas between them, or `all`
 * @returns the peers that can run, and a result with the reason for each that can't
 * @throws GemmError `invalid-argument` for a name that no peer has, before anything is loaded
 */
export async function openPeers(
  names: string,
  gpu: PeerGpu,
): Promise<{ readonly peers: readonly Peer[]; readonly failures: readonly BenchResult[] }> {
  const wanted = peerNames(names);
  makeRoomForPeers(gpu);
  const peers: Peer[] = [];
  const failures: BenchResult[] = [];
  for (const name of wanted) {
    try {
      const peer = await PEERS[name]();
      await peer.open(gpu);
      peers.push(peer);
    } catch (error) {
      failures.push({ ...blankResult('peer', name), failure: (error as Error).message.split('\n')[0] });
    }
  }
  return { peers, failures };
}

/** @throws GemmError `invalid-argument` */
export function peerNames(names: string): readonly string[] {
  const known = Object.keys(PEERS);
  if (names === 'all') return known;
  const wanted = names.split(',').map(name => name.trim());
  for (const name of wanted) {
    if (known.includes(name)) continue;
    throw new GemmError(
      'invalid-argument',
      `there is no peer "${name}"`,
      `The peers are ${known.join(', ')}; \`all\` takes them all.`,
    );
  }
  return wanted;
}
