/** Reads and shows the push configurations of tasks. Delivering the updates is in `shared/src/delivery/a2a-push`. */

import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { ParleyError } from '@parley/core/domain/errors';
import { notFound } from '@parley/shared/domain/caller';
import type { Run } from '@parley/shared/domain/runs/run';

/** The address for the updates of a task, with its credentials. */
interface PushTargetShape {
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string } | undefined;
  readonly version: '1.0' | '0.3';
}

interface PushConfigDeps {
  /** Stores a target and begins to deliver to it. */
  readonly put: (task: Run, target: PushTargetShape) => Promise<void>;
  readonly list: (task: Run) => Promise<readonly PushTargetShape[]>;
  /** Throws `invalid_request` if the task has no room for a target with this id. */
  readonly checkRoom: (task: Run, id: string) => Promise<void>;
  readonly remove: (task: Run, id: string) => Promise<boolean>;
  /** Why an address cannot be used; undefined if it may be called. */
  readonly faultOfUrl: (url: string) => string | undefined;
}

/** The push notification configurations of tasks. */
export interface PushConfigs {
  /**
   * Throws `invalid_request` for a configuration that cannot be stored. Without a task, checks it for a task that is about to
   * begin.
   */
  check(config: TaskPushNotificationConfig, version: string | undefined, task?: Run): Promise<void>;
  /**
   * Stores a configuration, and replaces one with the same id. Throws `invalid_request` for an address that is never called.
   */
  put(
    task: Run,
    config: TaskPushNotificationConfig,
    version: string | undefined,
  ): Promise<TaskPushNotificationConfig>;
  /** Throws `not_found`. */
  get(task: Run, id: string): Promise<TaskPushNotificationConfig>;
  /** The configuration that was stored without an id, or else the first one. Throws `not_found`. */
  first(task: Run): Promise<TaskPushNotificationConfig>;
  list(task: Run): Promise<readonly TaskPushNotificationConfig[]>;
  remove(task: Run, id: string): Promise<void>;
}

const ID_MAX = 128;
const TEXT_MAX = 8_192;
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
// The characters that a header may contain.
const PRINTABLE = /^[\x20-\x7e]*$/;

export function createPushConfigs(deps: PushConfigDeps): PushConfigs {
  /** The target of a configuration. A configuration without an id gets that of its task. */
  function checkedTarget(
    config: TaskPushNotificationConfig,
    version: string | undefined,
    task: Run | undefined,
  ): PushTargetShape {
    const id = config.id === '' ? (task?.streamRequestId ?? '') : config.id;
    const target = targetOf({ ...config, id }, version === '1.0' ? '1.0' : '0.3');
    const fault = deps.faultOfUrl(target.url) ?? faultOfTarget(target);
    if (fault === undefined) return target;
    throw new ParleyError('invalid_request', 'The push configuration cannot be kept.', {
      issues: [{ path: 'url', message: fault }],
    });
  }

  return {
    async check(config, version, task) {
      const { id } = checkedTarget(config, version, task);
      if (task !== undefined) await deps.checkRoom(task, id);
    },
    async put(task, config, version) {
      const target = checkedTarget(config, version, task);
      await deps.put(task, target);
      return configOf(task, target);
    },
    async get(task, id) {
      return configIn(
        task,
        (await deps.list(task)).filter((one) => one.id === id),
      );
    },
    async first(task) {
      const targets = await deps.list(task);
      return configIn(task, [...targets.filter(({ id }) => id === task.streamRequestId), ...targets]);
    },
    list: async (task) => (await deps.list(task)).map((target) => configOf(task, target)),
    async remove(task, id) {
      await deps.remove(task, id);
    },
  };
}

function configIn(task: Run, [target]: readonly PushTargetShape[]): TaskPushNotificationConfig {
  if (target === undefined) throw notFound();
  return configOf(task, target);
}

function targetOf(
  { id, url, token, authentication }: TaskPushNotificationConfig,
  version: PushTargetShape['version'],
): PushTargetShape {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return {
    id,
    url,
    token,
    version,
    ...(scheme !== '' && { authentication: { scheme, credentials } }),
  };
}

function faultOfTarget({ id, token, authentication }: PushTargetShape): string | undefined {
  if (id.length > ID_MAX) return `has an id of more than ${ID_MAX} characters`;
  const { scheme = 'Bearer', credentials = '' } = authentication ?? {};
  if (!SCHEME.test(scheme)) return 'has an authentication scheme that no header can have';
  const isHeader = [token, credentials].every((text) => text.length <= TEXT_MAX && PRINTABLE.test(text));
  return isHeader ? undefined : 'has a token or credentials that no header can hold';
}

/** A configuration for its owner, without credentials. */
function configOf(
  { streamRequestId }: Run,
  { id, url, authentication }: PushTargetShape,
): TaskPushNotificationConfig {
  return {
    tenant: '',
    id,
    taskId: streamRequestId,
    url,
    token: '',
    authentication: authentication && { scheme: authentication.scheme, credentials: '' },
  };
}
