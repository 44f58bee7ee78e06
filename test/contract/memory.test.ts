import { memoryStore } from '../harness/engines/memory-pods.ts';
import { backendContract } from './suite.ts';

backendContract('the memory backend', memoryStore);
