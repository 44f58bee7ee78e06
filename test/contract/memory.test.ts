import { backendContract } from './suite.ts';
import { memoryStore } from './support/memory-pods.ts';

backendContract('the memory backend', memoryStore);
