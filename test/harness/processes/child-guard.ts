import type { ChildProcess } from 'node:child_process';
import { createChildGuard } from '../../../services/api/src/agents/mcp/transports/child-guard.ts';

const guard = createChildGuard();

/**
 * Has `pid` (by default the child's own) killed when this process ends before the child does, even by SIGKILL: test
 * runners end their workers without a warning, and a frozen server left behind would stay for ever.
 */
export function killWithParent(child: ChildProcess, pid: number | undefined = child.pid): void {
  guard.watch(child, pid);
}
