function love.conf(t)
  t.identity = "ecs-lantern"
  t.version = "11.0"
  t.window.title = "Lantern"
  t.window.width, t.window.height = 960, 540
  t.modules.physics, t.modules.joystick, t.modules.video = false, false, false
end
