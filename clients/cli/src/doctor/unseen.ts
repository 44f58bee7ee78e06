/** Faults that cannot be seen from outside, why, and where they show. The last table of `parley doctor` in docs/cli.md. */
export const UNSEEN: readonly (readonly [fault: string, why: string, where: string])[] = [
  [
    'two installations share one Redis and one prefix',
    'their pods look alike',
    '`pods` of `/v1/admin/installation` has names that you do not know',
  ],
  [
    'a redirect URI is not registered',
    'only the provider knows its list, and tells it to nobody',
    'the page of the provider at the first sign-in; [the tutorial](tutorial.md) has the exact addresses',
  ],
  [
    'a time-out of the proxy for long polls (`/wait`) or for chats without a stream',
    'a probe would have to ask a question and to wait for minutes',
    '[the rules of the proxy](operations.md#the-proxy-in-front)',
  ],
  [
    'a proxy sends a POST twice, or speaks HTTP/1.0 to the pods',
    'the client of a proxy sees neither',
    'the log of the proxy; `infra/check.ts` for the shipped files',
  ],
  [
    'a balancer cuts streams that have heartbeats, after a fixed time',
    'the probe ends after the first heartbeat',
    'clients reconnect, and miss nothing',
  ],
  [
    'Redis loses acknowledged writes in a failover, or without power',
    'a setting of its disk and of its replicas',
    '[what is not promised](operations.md#what-is-not-promised)',
  ],
  [
    'commands that a provider takes away, such as `CLIENT NO-TOUCH`, and keyspace events',
    'Parley uses neither, so that nothing is wrong',
    '[managed services](operations.md#managed-services)',
  ],
  [
    'keys of one user in two slots of a Cluster',
    'cannot be: all keys of a user have one hash tag',
    '[redis.md](redis.md)',
  ],
  [
    'another BullMQ than that of the pods',
    'it is inside each program, so that it differs only where builds do',
    '`mixed_builds`, `version_differs`',
  ],
  [
    'a secret for webhooks differs from that of the receiver',
    'only the receiver checks signatures',
    '`dead_letters`, with the status of the receiver',
  ],
  [
    'a container is killed for its memory',
    'the pod that answers is another one',
    '`pods_lapsed`; `kubectl describe pod` says OOMKilled',
  ],
];
