import { TravelDesk } from './travel-desk.tsx';

interface Props {
  readonly searchParams: Promise<{ readonly chat?: string | string[] }>;
}

// Parley's address is read for each request, not during the build.
export const dynamic = 'force-dynamic';

export default async function Page({ searchParams }: Props) {
  const { chat } = await searchParams;
  const { PARLEY_URL = 'http://localhost:3000' } = process.env;
  return (
    <main>
      <h1>Travel desk</h1>
      <TravelDesk id={typeof chat === 'string' ? chat : 'first'} parleyUrl={PARLEY_URL} />
    </main>
  );
}
