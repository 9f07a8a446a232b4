echo hello
ls /sys/kernel/debug | head -5
timeout --foreground 5 echo timed
bash -c 'echo bash $BASH_VERSION'
