const NEAR = 80;

/**
 * Keeps the end of a growing list in view if the person has scrolled to it. But the top of the newest part never scrolls out of
 * view, because a long form is read from its title. The returned function scrolls to the end.
 */
export function followEnd(scroller, list, newestPart) {
  let following = true;

  function follow() {
    if (!following) return;
    const end = scroller.scrollHeight - scroller.clientHeight;
    const part = newestPart();
    const top = part ? part.getBoundingClientRect().top - scroller.getBoundingClientRect().top : end;
    scroller.scrollTop = Math.min(end, scroller.scrollTop + top - 16);
  }

  scroller.addEventListener('scroll', () => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
  });
  // Without this, some browsers do not allow scrolling by keyboard.
  scroller.tabIndex = 0;
  // Cards render later than the message that contains them.
  const observer = new ResizeObserver(follow);
  for (const one of [scroller, list]) observer.observe(one);
  return () => {
    following = true;
    follow();
  };
}
