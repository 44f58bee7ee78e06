import type { Caller } from '@parley/shared/domain/caller';
import { operator, type Route, type RouteDocs, route } from '../../http/route.ts';

type AdminRoute<Query, Body> = Omit<Parameters<typeof route<Query, Body, Caller>>[0], 'proof' | 'docs'> & {
  readonly docs: Omit<RouteDocs, 'group'>;
};

/** A route for operators. It is admitted before it reads, because one call may read much. */
export function adminRoute<Query = undefined, Body = undefined>({
  docs,
  handle,
  ...rest
}: AdminRoute<Query, Body>): Route {
  return route<Query, Body, Caller>({
    ...rest,
    proof: operator(),
    docs: { group: 'Operations', ...docs },
    async handle(call) {
      await call.admitted;
      return handle(call);
    },
  });
}
