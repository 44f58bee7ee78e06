/** The parts of the server with which `parley doctor` and `parley dev` check a Redis before a service uses it. */
export { readRedisPlaces } from '@parley/shared/config/redis-env';
export type { RedisDiagnosis, RedisFaultCode } from '@parley/shared/ports/redis-diagnosis';
export { diagnose } from '@parley/shared/redis/diagnosis/diagnose';
