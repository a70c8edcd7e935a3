# shellcheck shell=bash
# How far a build or a run of tests is, and how long it will take: sourced by tools/build and tools/run_tests. On a terminal one line that is written
# over; elsewhere a line for every tenth, or after 30 seconds. Bash alone: ./demo has no other tools yet. tools/check_progress tests it.

progress_now() { seconds=$SECONDS; }

progress_to_terminal() { [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; }

# `progress_clock SECONDS` sets `clock`: 0:07, 12:30, 1:02:03.
progress_clock() {
  if (($1 < 3600)); then printf -v clock '%d:%02d' $(($1 / 60)) $(($1 % 60)); else printf -v clock '%d:%02d:%02d' $(($1 / 3600)) $(($1 / 60 % 60)) $(($1 % 60)); fi
}

# `progress_text LABEL NOUN AT TOTAL FAILED SECONDS COLUMNS` sets `text` to the most that fits into a line. What is left is guessed from what was done,
# once there is something to guess from. A file takes the longer the later it comes, since it includes those before it: twice as long at the end as at the
# beginning comes near the truth, for the library and for all. The longest tests come first: the first tenth of them says nothing about the rest.
progress_text() {
  local label=$1 noun=$2 at=$3 total=$4 failed=$5 seconds=$6 columns=$7 bad='' so_far='' left='' clock
  ((failed == 0)) || bad=", $failed failed"
  progress_clock "$seconds"
  so_far=", $clock so far"
  if ((seconds >= 5 && at > 0 && at < total)) && [[ $noun == file || $((10 * at)) -ge $total ]]; then
    if [ "$noun" = file ]; then
      progress_clock $((seconds * (total - at) * (3 * total + at) / (at * (2 * total + at))))
    else
      progress_clock $((seconds * (total - at) / at))
    fi
    left=", $clock left"
  fi
  for text in "$label: $noun $at of $total ($((100 * at / total)) %)$bad$so_far$left" "$label: $noun $at of $total$bad$left" "$noun $at of $total$bad$left" "$at/$total$bad$left"; do
    ((${#text} >= columns)) || return 0  # the last column stays free: some terminals begin a new line there
  done
  text=${text:0:columns-1}
}

# `progress_is_due PERCENT SECONDS LAST_PERCENT LAST_SECONDS`: whether another line is to be printed where none is written over.
progress_is_due() { (($2 - $4 >= 30 || ($1 / 10 > $3 / 10 && $2 - $4 >= 5))); }

# `progress_read LINE` sets `at`, `total` and `failed` from a line of ninja's or of ctest's.
progress_read() {
  if [[ $1 =~ ^\[([0-9]+)/([0-9]+)\]\  && $1 != *' Re-'* ]]; then  # not its own questions: Re-checking globbed directories, Re-running CMake
    at=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
  elif [[ $1 =~ ^\ *([0-9]+)/([0-9]+)\ Test\ +# ]]; then
    at=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    [[ $1 != *'***'* || $1 == *'***Skipped'* ]] || failed=$((failed + 1))
  else
    return 1
  fi
}

# `progress_note TEXT`: before anything is counted.
progress_note() { if progress_to_terminal; then printf '\r%s\033[K' "$1"; else echo "$1"; fi; }

progress_clear() { ! progress_to_terminal || printf '\r\033[K'; }

# `show_progress LABEL NOUN` reads what ninja or ctest prints, to its end.
show_progress() {
  local label=$1 noun=$2 at=0 total=0 failed=0 seconds=0 begun drawn=-1 last_percent=0 last_seconds=0 columns=80 terminal='' pending='' part line text
  ! progress_to_terminal || terminal=1
  progress_now
  begun=$seconds
  while true; do
    line=''
    if IFS= read -r -t 1 part; then  # a second without a line moves the clock
      line=$pending$part pending=''
    elif (($? > 128)); then
      pending+=$part
    else
      break
    fi
    progress_read "$line" || [ -z "$line" ] || continue
    progress_now
    ((total > 0)) || continue
    if [ -n "$terminal" ]; then
      if ((seconds != drawn)); then
        { columns=$(stty size <&3 2>/dev/null) || columns=''; } 3>&1
        columns=${columns#* }
        ((${columns:-0} > 0)) || columns=80
        drawn=$seconds
      fi
      progress_text "$label" "$noun" "$at" "$total" "$failed" $((seconds - begun)) "$columns"
      printf '\r%s\033[K' "$text"
    elif progress_is_due $((100 * at / total)) $((seconds - begun)) "$last_percent" "$last_seconds"; then
      progress_text "$label" "$noun" "$at" "$total" "$failed" $((seconds - begun)) 120
      echo "$text"
      last_percent=$((100 * at / total)) last_seconds=$((seconds - begun))
    fi
  done
  progress_clear
}
