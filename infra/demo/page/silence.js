/** As long as three heartbeats of Parley's streams, which come every 15 s. */
const SILENCE_MS = 45_000;

/** What comes; or an error once nothing came for so long that the connection must be lost. */
export async function unlessSilent(coming) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('Nothing came for too long.')), SILENCE_MS);
  });
  try {
    return await Promise.race([coming, silence]);
  } finally {
    clearTimeout(timer);
  }
}
